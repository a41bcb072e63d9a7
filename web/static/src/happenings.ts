// What the activity holds: the newest changes of the kinds that it follows, in
// the order of their times, and those that wait while a person reads.

import { fieldsOf, type Field } from "./fields.ts";
import type { Kind } from "./kinds.ts";
import { isObject } from "./paths.ts";
import { authorsOf, opWords } from "./timeline.ts";
import type { By, Change } from "./wire.ts";

export interface Happening {
  readonly number: number; // rises
  readonly kind: Kind;
  readonly change: Change;
  /** What an update did, in short, one for each field that is worth it. */
  readonly words: readonly string[];
  readonly quiet: boolean;
  readonly by: readonly By[];
  readonly hay: string;
}

const most = 1000;

export class Happenings {
  paused = false;
  private readonly begun = new Map<string, string>(); // by the ref of a kind: after this time all of its changes were told
  private cut = ""; // of the newest change that had to make room
  private held: Happening[] = []; // oldest first
  private waiting: Happening[] = [];
  private next = 0;

  /** After this time all changes of all kinds are held; empty where none has begun. */
  get since(): string {
    return latest([...this.begun.values(), this.cut]);
  }

  /** Begins a kind anew: what is told is all that is known of its past. */
  begin(kind: Kind, since: string, changes: readonly Change[]): void {
    this.forget(kind.ref);
    this.begun.set(kind.ref, since);
    this.held = this.bounded(merged(this.held, changes.map((c) => this.happening(kind, c))));
  }

  add(kind: Kind, changes: readonly Change[]): void {
    const fresh = changes.map((c) => this.happening(kind, c));
    if (this.paused) this.waiting = this.bounded(merged(this.waiting, fresh));
    else this.held = this.bounded(merged(this.held, fresh));
  }

  /** Lets go of all that a kind told. */
  forget(ref: string): void {
    this.begun.delete(ref);
    this.held = this.held.filter((h) => h.kind.ref !== ref);
    this.waiting = this.waiting.filter((h) => h.kind.ref !== ref);
  }

  clear(): void {
    this.begun.clear();
    this.cut = "";
    this.held = this.waiting = [];
  }

  resume(): void {
    this.paused = false;
    this.held = this.bounded(merged(this.held, this.waiting));
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
    this.cut = latest([this.cut, gone.change.time]);
    return list.slice(-most);
  }

  private happening(kind: Kind, change: Change): Happening {
    const fields = change.op === "update" ? fieldsOf(null, change) : [];
    const loud = fields.filter((f) => !f.noise);
    const by = authorsOf(change);
    const words = (loud.length > 0 ? loud : fields).sort((a, b) => rankOf(a) - rankOf(b)).map((f) => (f.after.is === "none" ? `− ${f.words}` : `${f.words} → ${short(f.after.is === "value" ? f.after.value : "")}`));
    const hay = [kind.kind, kind.resource, change.ns, change.name, opWords[change.op], ...fields.map((f) => f.words), ...by.flatMap((b) => [b.manager, b.operation, b.subresource])].join(" ").toLowerCase();
    return { number: this.next++, kind, change, words, quiet: change.op === "update" && loud.length === 0, by, hay };
  }
}

// Two lists in the order of their times, as one; of the same time those of the first come first.
function merged(a: readonly Happening[], b: readonly Happening[]): Happening[] {
  const out: Happening[] = [];
  let i = 0;
  for (const late of b) {
    for (let early = a[i]; early !== undefined && Date.parse(early.change.time) <= Date.parse(late.change.time); early = a[++i]) out.push(early);
    out.push(late);
  }
  return out.concat(a.slice(i));
}

// Times of the wire have as many digits of a second as they need.
const latest = (times: readonly string[]): string => times.reduce((a, b) => (a === "" || Date.parse(b) > Date.parse(a) ? b : a), "");

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
