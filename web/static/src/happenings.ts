// What the activity holds: the newest changes of the kinds that it follows, in
// the order of their times, and those that wait while a person reads.

import { fieldsOf, type Field, type Value } from "./fields.ts";
import type { Kind } from "./kinds.ts";
import { isObject } from "./paths.ts";
import { authorsOf, opWords } from "./timeline.ts";
import type { By, Change } from "./wire.ts";

/** A change as it is told in a line: none of its values are kept. */
export interface Happening {
  readonly number: number; // rises
  readonly at: number; // its time, in milliseconds
  readonly kind: Kind;
  readonly op: Change["op"];
  readonly ns: string;
  readonly name: string;
  readonly time: string;
  /** What an update did, in short, one for each field that is worth it: the pieces of it, of which each may be in a script of its own. */
  readonly words: readonly (readonly string[])[];
  readonly quiet: boolean;
  readonly by: readonly By[];
  readonly hay: string;
}

// A time as the wire tells it, with as many digits of a second as it needs, and in milliseconds.
interface Moment {
  readonly time: string;
  readonly at: number;
}

const most = 1000;

export class Happenings {
  paused = false;
  private readonly begun = new Map<string, Moment>(); // by the ref of a kind: after this time all of its changes were told
  private cut: Moment | null = null; // of the newest change that had to make room
  private held: Happening[] = []; // oldest first
  private waiting: Happening[] = [];
  private next = 0;

  /** After this time all changes of all kinds are held; empty where none has begun. */
  get since(): string {
    let newest = this.cut;
    for (const moment of this.begun.values()) newest = later(newest, moment);
    return newest?.time ?? "";
  }

  /** Begins a kind anew: what is told is all that is known of its past. */
  begin(kind: Kind, since: string, changes: readonly Change[]): void {
    this.forget(kind.ref);
    this.begun.set(kind.ref, { time: since, at: since === "" ? -Infinity : Date.parse(since) });
    this.insert(this.held, changes.map((c) => this.happening(kind, c)));
  }

  add(kind: Kind, changes: readonly Change[]): void {
    this.insert(this.paused ? this.waiting : this.held, changes.map((c) => this.happening(kind, c)));
  }

  /** Lets go of all that a kind told. */
  forget(ref: string): void {
    this.begun.delete(ref);
    this.held = this.held.filter((h) => h.kind.ref !== ref);
    this.waiting = this.waiting.filter((h) => h.kind.ref !== ref);
  }

  clear(): void {
    this.begun.clear();
    this.cut = null;
    this.held = [];
    this.waiting = [];
  }

  resume(): void {
    this.paused = false;
    this.insert(this.held, this.waiting);
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

  // Each where its time is, of the same time behind those that are there. What
  // comes is mostly the newest of all.
  private insert(list: Happening[], fresh: readonly Happening[]): void {
    for (const h of fresh) {
      let place = list.length;
      for (let before = list[place - 1]; before !== undefined && before.at > h.at; before = list[place - 1]) place--;
      if (place === list.length) list.push(h);
      else list.splice(place, 0, h);
    }
    const gone = list.splice(0, Math.max(0, list.length - most)).at(-1);
    if (gone !== undefined) this.cut = later(this.cut, { time: gone.time, at: gone.at });
  }

  private happening(kind: Kind, change: Change): Happening {
    const fields = change.op === "update" ? fieldsOf(null, change) : [];
    const loud = fields.filter((f) => !f.noise);
    const by = authorsOf(change).map(({ manager, operation, subresource, time }) => ({ manager, operation, subresource, time }));
    const words = (loud.length > 0 ? loud : fields).sort((a, b) => rankOf(a) - rankOf(b)).map(wordsOf);
    const hay = [kind.kind, kind.resource, change.ns, change.name, opWords[change.op], ...fields.map((f) => f.words), ...by.flatMap((b) => [b.manager, b.operation, b.subresource])].join(" ").toLowerCase();
    const { op, ns, name, time } = change;
    return { number: this.next++, at: Date.parse(time), kind, op, ns, name, time, words, quiet: op === "update" && loud.length === 0, by, hay };
  }
}

const later = (a: Moment | null, b: Moment): Moment => (a === null || b.at > a.at ? b : a);

function seen(filter: string, quiet: boolean): (h: Happening) => boolean {
  const terms = filter.toLowerCase().split(/\s+/).filter((t) => t !== "");
  return (h) => (quiet || !h.quiet) && terms.every((t) => h.hay.includes(t));
}

// What says most in a few characters comes first: what turned from one value to
// another, as a phase, before what is there or gone, and both before what a list or
// a map has of them. That something turned says less than what it turned to.
function rankOf(f: Field): number {
  if (/[a-z]Time$/.test(f.words)) return 8;
  if (f.after.is === "value" && typeof f.after.value === "object") return 4;
  return (f.words.includes("[") ? 2 : 0) + (f.before.is === "value" && f.after.is === "value" ? 0 : 1);
}

// "− path" is gone, with what stood there where that is known.
function wordsOf({ words, before, after }: Field): string[] {
  const [was, is] = [lineOf(before), lineOf(after)];
  if (after.is === "none") return ["−", words, ...(was === null ? [] : [cut(was, 0)])];
  if (was === null || is === null) return [words, "→", cut(is ?? "", 0)];
  if (was === is && after.is === "value" && Array.isArray(after.value)) return [words, "in another order"];
  const from = Math.max(0, differAt(was, is) - lead);
  return from + lead < longest ? [words, cut(was, 0), "→", cut(is, 0)] : [words, cut(was, from), "→", cut(is, from)];
}

const longest = 48;
const lead = 12; // characters that are shown of what two long texts have in common, where they begin to differ beyond what is shown

// How far two texts are the same.
function differAt(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

// A value in a line; null where none is known.
function lineOf(v: Value): string | null {
  if (v.is !== "value") return null;
  const { value } = v;
  const words = isObject(value) ? `{${Object.entries(value).map(([k, e]) => `${k} ${inner(e)}`).join(", ")}}` : value === "" ? '""' : inner(value);
  return words.replace(/\s+/g, " ");
}

// What is within another value is told by its size alone: that it is there, and not how it is.
const inner = (value: unknown): string => (Array.isArray(value) ? `[${value.length}]` : isObject(value) ? (Object.keys(value).length === 0 ? "{}" : "{…}") : String(value));

// A few characters of a line, from a place on, and none of them in half.
function cut(line: string, from: number): string {
  if (from === 0 && line.length <= longest) return line;
  const part = line.slice(from, from + longest).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  // A slice would hold on to all of the text that it is of.
  return [...(from > 0 ? ["…"] : []), ...part, ...(from + longest < line.length ? ["…"] : [])].join("");
}
