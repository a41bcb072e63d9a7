// The newest changes of several resources, sorted by time, for the activity feed.

import { fieldsOf, type Field, type Value } from "../model/fields.ts";
import type { Kind } from "../net/kinds.ts";
import { isObject } from "../model/paths.ts";
import { isEvents } from "../model/view.ts";
import { changeAuthors, opLabels, partsOf } from "./timeline.ts";
import type { ChangeAuthor, Change } from "../net/wire.ts";

/** One line of the activity feed. To save memory, it contains only shortened texts of the values. */
export interface LogEntry {
  readonly number: number;
  readonly timeMs: number;
  readonly kind: Kind;
  readonly op: Change["op"];
  readonly ns: string;
  readonly name: string;
  readonly time: string;
  /** A list of text pieces for each changed field. Each piece can have its own writing direction. */
  readonly fieldTexts: readonly (readonly string[])[];
  readonly isMinor: boolean;
  /** Whether only the status changed. */
  readonly isStatus: boolean;
  readonly by: readonly ChangeAuthor[];
  readonly searchText: string;
}

interface Moment {
  readonly time: string;
  readonly timeMs: number;
}

const maxEntries = 1000;

export class ChangeLog {
  isPaused = false;
  // The time after which the log contains all changes of a resource, by the resource's ref.
  private readonly completeSince = new Map<string, Moment>();
  // The time of the newest change that was removed because the log has at most maxEntries.
  private droppedUpTo: Moment | null = null;
  private entries: LogEntry[] = []; // oldest first
  private pending: LogEntry[] = [];
  private nextNumber = 0;

  /** The time after which the log contains all changes of its resources. "" if it has no resources. */
  get since(): string {
    let newest = this.droppedUpTo;
    for (const moment of this.completeSince.values()) newest = latest(newest, moment);
    return newest?.time ?? "";
  }

  /** Replaces all changes of the resource. The new changes include all changes after the time `since`. */
  addResource(kind: Kind, since: string, changes: readonly Change[]): void {
    this.removeResource(kind.ref);
    this.completeSince.set(kind.ref, { time: since, timeMs: since === "" ? -Infinity : Date.parse(since) });
    this.insert(
      this.entries,
      changes.map((c) => this.entryOf(kind, c)),
    );
  }

  add(kind: Kind, changes: readonly Change[]): void {
    this.insert(
      this.isPaused ? this.pending : this.entries,
      changes.map((c) => this.entryOf(kind, c)),
    );
  }

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

  pendingCount(filter: string, includeMinor: boolean, includeStatus = true): number {
    return this.pending.filter(matcher(filter, includeMinor, includeStatus)).length;
  }

  /** Returns the changes that match the filter, newest first. */
  visible(filter: string, includeMinor: boolean, includeStatus = true): LogEntry[] {
    return this.entries.filter(matcher(filter, includeMinor, includeStatus)).reverse();
  }

  get size(): number {
    return this.entries.length;
  }

  // Inserts changes in the order of time. It searches for the position from the end of the list, because a new change
  // is usually newer than all others.
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
      // Of the changes of Events, only a new Warning matters: an update only counts another occurrence.
      isMinor: isEvents(kind.ref) ? op !== "add" || !change.severity : op === "update" && relevant.length === 0,
      isStatus: relevant.length > 0 && partsOf(relevant).join() === "status",
      by,
      searchText,
    };
  }
}

const latest = (a: Moment | null, b: Moment): Moment => (a === null || b.timeMs > a.timeMs ? b : a);

function matcher(filter: string, includeMinor: boolean, includeStatus: boolean): (h: LogEntry) => boolean {
  const terms = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((t) => t !== "");
  return (h) =>
    (includeMinor || !h.isMinor) && (includeStatus || !h.isStatus) && terms.every((t) => h.searchText.includes(t));
}

// The sort rank of a changed field: single values first, then list elements, then maps and lists, then timestamps.
function displayRank(f: Field): number {
  if (/[a-z]Time$/.test(f.pathText)) return 8;
  if (f.after.type === "value" && typeof f.after.value === "object") return 4;
  return (f.pathText.includes("[") ? 2 : 0) + (f.before.type === "value" && f.after.type === "value" ? 0 : 1);
}

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
const contextLength = 12;

function commonPrefixLength(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

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

const nestedText = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.length}]`
    : isObject(value)
      ? Object.keys(value).length === 0
        ? "{}"
        : "{…}"
      : String(value);

function shorten(line: string, from: number): string {
  if (from === 0 && line.length <= maxTextLength) return line;
  // Do not split a surrogate pair (two UTF-16 units of one character).
  const part = line.slice(from, from + maxTextLength).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  // Copy the characters, because a substring would keep the complete source string in memory.
  return [...(from > 0 ? ["…"] : []), ...part, ...(from + maxTextLength < line.length ? ["…"] : [])].join("");
}
