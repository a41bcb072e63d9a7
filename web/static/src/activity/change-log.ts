// The changes that the activity list shows: the newest changes of several resources, sorted by time. Changes that
// arrive while the list is paused are stored separately.

import { fieldsOf, type Field, type Value } from "../model/fields.ts";
import type { Kind } from "../net/kinds.ts";
import { isObject } from "../model/paths.ts";
import { changeAuthors, opLabels } from "./timeline.ts";
import type { ChangeAuthor, Change } from "../net/wire.ts";

/** One change as a line of the activity list. It has shortened texts instead of the changed values. */
export interface LogEntry {
  readonly number: number; // the serial number of the change on this page
  readonly timeMs: number; // the time of the change, in ms
  readonly kind: Kind;
  readonly op: Change["op"];
  readonly ns: string;
  readonly name: string;
  readonly time: string;
  /**
   * Short descriptions of an update, one for each relevant field. Each is a list of pieces, because a piece may have
   * another writing direction than the text around it.
   */
  readonly fieldTexts: readonly (readonly string[])[];
  readonly isMinor: boolean;
  readonly by: readonly ChangeAuthor[];
  readonly searchText: string;
}

// A time in two forms. time: as the server sends it, with any number of fractional digits. timeMs: in ms.
interface Moment {
  readonly time: string;
  readonly timeMs: number;
}

const maxEntries = 1000;

export class ChangeLog {
  isPaused = false;
  // For each resource, by its ref: the time after which all its changes are known.
  private readonly completeSince = new Map<string, Moment>();
  // the time of the newest change that was removed because there were too many
  private droppedUpTo: Moment | null = null;
  private entries: LogEntry[] = []; // the changes, oldest first
  private pending: LogEntry[] = [];
  private nextNumber = 0;

  /** The time after which the list has all changes of all its resources; empty if it has no resource yet. */
  get since(): string {
    let newest = this.droppedUpTo;
    for (const moment of this.completeSince.values()) newest = latest(newest, moment);
    return newest?.time ?? "";
  }

  /** Adds a resource with its changes after the time since. Earlier changes of the same resource are discarded. */
  addResource(kind: Kind, since: string, changes: readonly Change[]): void {
    this.removeResource(kind.ref);
    this.completeSince.set(kind.ref, { time: since, timeMs: since === "" ? -Infinity : Date.parse(since) });
    this.insert(this.entries, changes.map((c) => this.entryOf(kind, c)));
  }

  add(kind: Kind, changes: readonly Change[]): void {
    this.insert(this.isPaused ? this.pending : this.entries, changes.map((c) => this.entryOf(kind, c)));
  }

  /** Removes a resource and all its changes. */
  removeResource(ref: string): void {
    this.completeSince.delete(ref);
    this.entries = this.entries.filter((h) => h.kind.ref !== ref);
    this.pending = this.pending.filter((h) => h.kind.ref !== ref);
  }

  clear(): void {
    this.completeSince.clear();
    this.droppedUpTo = null;
    this.entries = [];
    this.pending = [];
  }

  resume(): void {
    this.isPaused = false;
    this.insert(this.entries, this.pending);
    this.pending = [];
  }

  /** Returns how many changes that arrived during the pause match the filter. */
  pendingCount(filter: string, includeMinor: boolean): number {
    return this.pending.filter(matcher(filter, includeMinor)).length;
  }

  /** Returns the changes that match the filter, newest first. */
  visible(filter: string, includeMinor: boolean): LogEntry[] {
    return this.entries.filter(matcher(filter, includeMinor)).reverse();
  }

  get size(): number {
    return this.entries.length;
  }

  // Inserts each change into the list by its time, after those with the same time. The search starts at the end,
  // because a new change is usually the newest.
  private insert(list: LogEntry[], added: readonly LogEntry[]): void {
    for (const h of added) {
      let index = list.length;
      for (let before = list[index - 1]; before !== undefined && before.timeMs > h.timeMs; before = list[index - 1])
        index--;
      if (index === list.length) list.push(h);
      else list.splice(index, 0, h);
    }
    const dropped = list.splice(0, Math.max(0, list.length - maxEntries)).at(-1);
    if (dropped !== undefined)
      this.droppedUpTo = latest(this.droppedUpTo, { time: dropped.time, timeMs: dropped.timeMs });
  }

  private entryOf(kind: Kind, change: Change): LogEntry {
    const fields = change.op === "update" ? fieldsOf(null, change) : [];
    const relevant = fields.filter((f) => !f.isVolatile);
    const by = changeAuthors(change).map(({ manager, operation, subresource, time }) => ({
      manager,
      operation,
      subresource,
      time,
    }));
    const fieldTexts = (relevant.length > 0 ? relevant : fields)
      .sort((a, b) => displayRank(a) - displayRank(b))
      .map(describeField);
    const searchText = [
      kind.kind,
      kind.resource,
      change.ns,
      change.name,
      opLabels[change.op],
      ...fields.map((f) => f.pathText),
      ...by.flatMap((b) => [b.manager, b.operation, b.subresource]),
    ]
      .join(" ")
      .toLowerCase();
    const { op, ns, name, time } = change;
    return {
      number: this.nextNumber++,
      timeMs: Date.parse(time),
      kind,
      op,
      ns,
      name,
      time,
      fieldTexts,
      isMinor: op === "update" && relevant.length === 0,
      by,
      searchText,
    };
  }
}

const latest = (a: Moment | null, b: Moment): Moment => (a === null || b.timeMs > a.timeMs ? b : a);

function matcher(filter: string, includeMinor: boolean): (h: LogEntry) => boolean {
  const terms = filter.toLowerCase().split(/\s+/).filter((t) => t !== "");
  return (h) => (includeMinor || !h.isMinor) && terms.every((t) => h.searchText.includes(t));
}

// Ranks the changed fields of an update; the lowest rank is shown first. Fields that changed from one value to another,
// such as a phase, are first. Added and removed fields follow, then elements of a list or a map, and timestamps last.
function displayRank(f: Field): number {
  if (/[a-z]Time$/.test(f.pathText)) return 8;
  if (f.after.type === "value" && typeof f.after.value === "object") return 4;
  return (f.pathText.includes("[") ? 2 : 0) + (f.before.type === "value" && f.after.type === "value" ? 0 : 1);
}

// Describes a changed field. "− path" means that the field was removed; the previous value follows if it is known.
function describeField({ pathText, before, after }: Field): string[] {
  const [previous, next] = [lineOf(before), lineOf(after)];
  if (after.type === "none") return ["−", pathText, ...(previous === null ? [] : [shorten(previous, 0)])];
  if (previous === null || next === null) return [pathText, "→", shorten(next ?? "", 0)];
  if (previous === next && after.type === "value" && Array.isArray(after.value)) return [pathText, "reordered"];
  const from = Math.max(0, commonPrefixLength(previous, next) - contextLength);
  return from + contextLength < maxTextLength
    ? [pathText, shorten(previous, 0), "→", shorten(next, 0)]
    : [pathText, shorten(previous, from), "→", shorten(next, from)];
}

const maxTextLength = 48;
// how many characters before the first difference of two long texts are shown
const contextLength = 12;

// Returns the length of the common prefix of a and b.
function commonPrefixLength(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

// Returns a value on one line; null if it is not known.
function lineOf(v: Value): string | null {
  if (v.type !== "value") return null;
  const { value } = v;
  const text = isObject(value)
    ? `{${Object.entries(value)
        .map(([k, e]) => `${k} ${nestedText(e)}`)
        .join(", ")}}`
    : value === ""
      ? '""'
      : nestedText(value);
  return text.replace(/\s+/g, " ");
}

// Formats a value inside a map or list. Of a nested map or list, only the size is shown.
const nestedText = (value: unknown): string =>
  (
    Array.isArray(value)
      ? `[${value.length}]`
      : isObject(value)
        ? (Object.keys(value).length === 0 ? "{}" : "{…}")
        : String(value)
  );

// Returns a few characters of a line from an offset, without splitting a surrogate pair.
function shorten(line: string, from: number): string {
  if (from === 0 && line.length <= maxTextLength) return line;
  const part = line.slice(from, from + maxTextLength).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  // Copy the characters. A slice would keep the complete source string in memory.
  return [...(from > 0 ? ["…"] : []), ...part, ...(from + maxTextLength < line.length ? ["…"] : [])].join("");
}
