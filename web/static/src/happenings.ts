// The changes that the activity list shows: the newest changes of several resources, sorted by time. Changes that
// arrive while the list is paused are stored separately.

import { fieldsOf, type Field, type Value } from "./fields.ts";
import type { Kind } from "./kinds.ts";
import { isObject } from "./paths.ts";
import { authorsOf, opWords } from "./timeline.ts";
import type { By, Change } from "./wire.ts";

/** One change as a line of the activity list. It has shortened texts instead of the changed values. */
export interface Happening {
  readonly number: number; // the serial number of the change on this page
  readonly at: number; // the time of the change, in ms
  readonly kind: Kind;
  readonly op: Change["op"];
  readonly ns: string;
  readonly name: string;
  readonly time: string;
  /**
    * Short descriptions of an update, one for each relevant field. Each is a list of pieces, because a piece may have
    * another writing direction than the text around it.
   */
  readonly words: readonly (readonly string[])[];
  readonly quiet: boolean;
  readonly by: readonly By[];
  readonly hay: string;
}

// A time in two forms. time: as the server sends it, with any number of fractional digits. at: in ms.
interface Moment {
  readonly time: string;
  readonly at: number;
}

const most = 1000;

export class Happenings {
  paused = false;
  // For each resource, by its ref: the time after which all its changes are known.
  private readonly begun = new Map<string, Moment>();
  private cut: Moment | null = null; // the time of the newest change that was removed because there were too many
  private held: Happening[] = []; // oldest first
  private waiting: Happening[] = [];
  private next = 0;

  /** The time after which the list has all changes of all its resources; empty if it has no resource yet. */
  get since(): string {
    let newest = this.cut;
    for (const moment of this.begun.values()) newest = later(newest, moment);
    return newest?.time ?? "";
  }

  /** Adds a resource with its changes after the time since. Earlier changes of the same resource are discarded. */
  begin(kind: Kind, since: string, changes: readonly Change[]): void {
    this.forget(kind.ref);
    this.begun.set(kind.ref, { time: since, at: since === "" ? -Infinity : Date.parse(since) });
    this.insert(this.held, changes.map((c) => this.happening(kind, c)));
  }

  add(kind: Kind, changes: readonly Change[]): void {
    this.insert(this.paused ? this.waiting : this.held, changes.map((c) => this.happening(kind, c)));
  }

  /** Removes a resource and all its changes. */
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

  /** Returns how many changes that arrived during the pause match the filter. */
  more(filter: string, quiet: boolean): number {
    return this.waiting.filter(seen(filter, quiet)).length;
  }

  /** Returns the changes that match the filter, newest first. */
  visible(filter: string, quiet: boolean): Happening[] {
    return this.held.filter(seen(filter, quiet)).reverse();
  }

  get size(): number {
    return this.held.length;
  }

  // Inserts each change into the list by its time, after those with the same time. The search starts at the end,
  // because a new change is usually the newest.
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
    const by = authorsOf(change).map(({ manager, operation, subresource, time }) => ({
      manager,
      operation,
      subresource,
      time,
    }));
    const words = (loud.length > 0 ? loud : fields)
      .sort((a, b) => rankOf(a) - rankOf(b))
      .map(wordsOf);
    const hay = [
      kind.kind,
      kind.resource,
      change.ns,
      change.name,
      opWords[change.op],
      ...fields.map((f) => f.words),
      ...by.flatMap((b) => [b.manager, b.operation, b.subresource]),
    ]
      .join(" ")
      .toLowerCase();
    const { op, ns, name, time } = change;
    return {
      number: this.next++,
      at: Date.parse(time),
      kind,
      op,
      ns,
      name,
      time,
      words,
      quiet: op === "update" && loud.length === 0,
      by,
      hay,
    };
  }
}

const later = (a: Moment | null, b: Moment): Moment => (a === null || b.at > a.at ? b : a);

function seen(filter: string, quiet: boolean): (h: Happening) => boolean {
  const terms = filter.toLowerCase().split(/\s+/).filter((t) => t !== "");
  return (h) => (quiet || !h.quiet) && terms.every((t) => h.hay.includes(t));
}

// Ranks the changed fields of an update; the lowest rank is shown first. Fields that changed from one value to another,
// such as a phase, are first. Added and removed fields follow, then elements of a list or a map, and timestamps last.
function rankOf(f: Field): number {
  if (/[a-z]Time$/.test(f.words)) return 8;
  if (f.after.is === "value" && typeof f.after.value === "object") return 4;
  return (f.words.includes("[") ? 2 : 0) + (f.before.is === "value" && f.after.is === "value" ? 0 : 1);
}

// Describes a changed field. "− path" means that the field was removed; the previous value follows if it is known.
function wordsOf({ words, before, after }: Field): string[] {
  const [was, is] = [lineOf(before), lineOf(after)];
  if (after.is === "none") return ["−", words, ...(was === null ? [] : [cut(was, 0)])];
  if (was === null || is === null) return [words, "→", cut(is ?? "", 0)];
  if (was === is && after.is === "value" && Array.isArray(after.value)) return [words, "reordered"];
  const from = Math.max(0, differAt(was, is) - lead);
  return from + lead < longest
    ? [words, cut(was, 0), "→", cut(is, 0)]
    : [words, cut(was, from), "→", cut(is, from)];
}

const longest = 48;
// how many characters before the first difference of two long texts are shown
const lead = 12;

// Returns the length of the common prefix of a and b.
function differAt(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

// Returns a value on one line; null if it is not known.
function lineOf(v: Value): string | null {
  if (v.is !== "value") return null;
  const { value } = v;
  const words = isObject(value)
    ? `{${Object.entries(value)
        .map(([k, e]) => `${k} ${inner(e)}`)
        .join(", ")}}`
    : value === ""
      ? '""'
      : inner(value);
  return words.replace(/\s+/g, " ");
}

// Formats a value inside a map or list. Of a nested map or list, only the size is shown.
const inner = (value: unknown): string =>
  (
    Array.isArray(value)
      ? `[${value.length}]`
      : isObject(value)
        ? (Object.keys(value).length === 0 ? "{}" : "{…}")
        : String(value)
  );

// Returns a few characters of a line from an offset, without splitting a surrogate pair.
function cut(line: string, from: number): string {
  if (from === 0 && line.length <= longest) return line;
  const part = line.slice(from, from + longest).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  // Copy the characters. A slice would keep the complete source string in memory.
  return [...(from > 0 ? ["…"] : []), ...part, ...(from + longest < line.length ? ["…"] : [])].join("");
}
