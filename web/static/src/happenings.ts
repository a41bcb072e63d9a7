// What the activity holds: the newest changes, and those that wait while a
// person reads.

import { fieldsOf, type Field } from "./fields.ts";
import { isObject } from "./paths.ts";
import { authorsOf, opWords } from "./timeline.ts";
import type { By, Change } from "./wire.ts";

export interface Happening {
  readonly number: number; // rises
  readonly change: Change;
  /** What an update did, in short, one for each field that is worth it. */
  readonly words: readonly string[];
  readonly quiet: boolean;
  readonly by: readonly By[];
  readonly hay: string;
}

const most = 1000;

export class Happenings {
  /** After this time all changes are held. */
  since = "";
  paused = false;
  private held: Happening[] = []; // oldest first
  private waiting: Happening[] = [];
  private next = 0;

  begin(since: string, changes: readonly Change[]): void {
    this.since = since;
    this.held = [];
    this.waiting = [];
    this.held = this.bounded(changes.map((c) => this.happening(c)));
  }

  add(changes: readonly Change[]): void {
    const fresh = changes.map((c) => this.happening(c));
    if (this.paused) this.waiting = this.bounded([...this.waiting, ...fresh]);
    else this.held = this.bounded([...this.held, ...fresh]);
  }

  resume(): void {
    this.paused = false;
    this.held = this.bounded([...this.held, ...this.waiting]);
    this.waiting = [];
  }

  /** How many wait that would be seen. */
  more(filter: string, quiet: boolean): number {
    return this.waiting.filter(seen(filter, quiet)).length;
  }

  /** What is to be seen, newest first. */
  visible(filter: string, quiet: boolean): Happening[] {
    return this.held.filter(seen(filter, quiet)).reverse();
  }

  get size(): number {
    return this.held.length;
  }

  private bounded(list: Happening[]): Happening[] {
    const gone = list[list.length - most - 1];
    if (gone === undefined) return list;
    this.since = gone.change.time;
    return list.slice(-most);
  }

  private happening(change: Change): Happening {
    const fields = change.op === "update" ? fieldsOf(null, change) : [];
    const loud = fields.filter((f) => !f.noise);
    const by = authorsOf(change);
    const words = (loud.length > 0 ? loud : fields).sort((a, b) => rankOf(a) - rankOf(b)).map((f) => (f.after.is === "none" ? `− ${f.words}` : `${f.words} → ${short(f.after.is === "value" ? f.after.value : "")}`));
    const hay = [change.ns, change.name, opWords[change.op], ...fields.map((f) => f.words), ...by.flatMap((b) => [b.manager, b.operation, b.subresource])].join(" ").toLowerCase();
    return { number: this.next++, change, words, quiet: change.op === "update" && loud.length === 0, by, hay };
  }
}

function seen(filter: string, quiet: boolean): (h: Happening) => boolean {
  const terms = filter.toLowerCase().split(/\s+/).filter((t) => t !== "");
  return (h) => (quiet || !h.quiet) && terms.every((t) => h.hay.includes(t));
}

// What says most in a few characters comes first; that something turned says
// less than what it turned to.
function rankOf(f: Field): number {
  if (/[a-z]Time$/.test(f.words)) return 2;
  return f.after.is === "value" && typeof f.after.value === "object" ? 1 : 0;
}

const longest = 48;

// A value in a few characters.
function short(value: unknown): string {
  const words = Array.isArray(value) ? `[${value.length}]` : isObject(value) ? `{${Object.entries(value).filter(([, v]) => typeof v !== "object").map(([k, v]) => `${k} ${String(v)}`).join(", ")}}` : value === "" ? '""' : String(value);
  const line = words.replace(/\s+/g, " ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
