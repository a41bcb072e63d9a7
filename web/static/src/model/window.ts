// WindowRows contains the window, the part of a long list that is loaded. The server sorts and filters the list.

import { FrozenOrder } from "./frozen-order.ts";
import { changedEntry, entryOf, keyOf, commonAuthor, type Entry, type RowSource } from "./row-source.ts";
import { sameVerdict, type CountedSeverity } from "./severity.ts";
import type { Column, Message, WindowEvent } from "../net/wire.ts";

/** Number of rows in a window. It covers several screens, so that short scroll distances need no request. */
export const windowSize = 400;

/** Returns the index of the first row of a window. The row at `position` is in the middle of this window. */
export const windowOffset = (position: number): number => Math.max(0, position - windowSize / 2);

type WindowMessage = Extract<Message, { type: "window" }>;
type WindowEventsMessage = Extract<Message, { type: "window-events" }>;
type RemovalReason = Extract<WindowEvent, { op: "remove" }>["why"];

// The rows at the time when the mouse pointer froze their order.
interface FrozenState {
  readonly order: FrozenOrder;
  readonly keys: ReadonlySet<string>;
  readonly matching: number;
  readonly departed: Map<string, Entry>; // newest versions of the rows that left the window during the freeze
}

export class WindowRows implements RowSource {
  readonly arriving = 0;
  columns: readonly Column[] = [];
  version = 0;
  isComplete = false;
  total = 0;
  matching = 0;
  private offset = 0;
  private entries: Entry[] = [];
  private byKey = new Map<string, Entry>();
  private readonly deletedKeys = new Set<string>();
  private severityCounts = { failed: 0, degraded: 0, progressing: 0 };
  private frozen: FrozenState | null = null;
  private requestedOffset = 0;
  private neededRange: readonly [number, number] = [0, 0];
  private isRequestPending = false;
  private isLocatePending = false;

  constructor(private readonly requestRows: (offset: number, around?: { ns: string; name: string }) => void) {}

  get length(): number {
    return this.frozen?.matching ?? this.matching;
  }

  get isFrozen(): boolean {
    return this.frozen !== null;
  }

  get pendingText(): string {
    return this.frozen?.order.pendingText(this.matching - this.frozen.matching) ?? "";
  }

  indexOf(key: string): number {
    const at = this.positions.findIndex((e) => e.key === key);
    return at < 0 ? -1 : this.offset + at;
  }

  get(key: string): Entry | undefined {
    return this.byKey.get(key);
  }

  requestAround(ns: string, name: string): boolean {
    if (!this.isComplete) return false;
    this.isRequestPending = this.isLocatePending = true;
    this.frozen = null;
    this.requestRows(this.offset, { ns, name });
    return true;
  }

  isDeleted(key: string): boolean {
    return this.deletedKeys.has(key);
  }

  all(): Iterable<Entry> {
    return this.entries;
  }

  private get positions(): readonly Entry[] {
    return this.frozen?.order.entries ?? this.entries;
  }

  slice(from: number, to: number): readonly (Entry | undefined)[] {
    this.requestIfNeeded(from, to);
    const positions = this.positions;
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => {
      const e = positions[from + i - this.offset];
      return e === undefined ? undefined : (this.byKey.get(e.key) ?? this.frozen?.departed.get(e.key) ?? e);
    });
  }

  countSeverity(severity: CountedSeverity): number {
    return this.severityCounts[severity];
  }

  setFrozen(on: boolean): void {
    if (on === this.isFrozen) return;
    this.frozen = on
      ? {
          order: new FrozenOrder([...this.entries]),
          keys: new Set(this.byKey.keys()),
          matching: this.matching,
          departed: new Map(),
        }
      : null;
    if (!on) this.version++; // rows can move when a freeze ends, but not when it starts
  }

  /** Requests the rows in a range of positions if they are not loaded. At most one request is pending at a time. */
  private requestIfNeeded(from: number, to: number): void {
    this.neededRange = [from, to];
    const end = Math.min(to, this.matching);
    if (
      this.isRequestPending ||
      from === to ||
      (from >= this.requestedOffset && end <= this.requestedOffset + windowSize)
    )
      return;
    const offset = Math.max(0, Math.floor((from + to - windowSize) / 2));
    if (offset === this.requestedOffset) return;
    this.requestedOffset = offset;
    this.isRequestPending = true;
    this.frozen = null; // the user has scrolled to rows outside the frozen ones
    this.requestRows(offset);
  }

  /**
   * Applies a message. Returns false if the message does not match the page's rows. The caller must then request all
   * rows again.
   */
  apply(m: WindowMessage | WindowEventsMessage): boolean {
    this.version++;
    return m.type === "window" ? this.applyWindow(m) : this.applyEvents(m);
  }

  private applyWindow(m: WindowMessage): boolean {
    if (m.columns !== null) this.columns = m.columns;
    else if (!this.isComplete) return false;
    const old = this.byKey;
    this.entries = m.rows.map((r) => {
      const e = entryOf(r, false, null);
      const before = old.get(e.key);
      // Compare the verdicts too. When progress becomes overdue, the verdict changes, but the resourceVersion does not.
      const isSame = before?.uid === e.uid && before.rv === e.rv && sameVerdict(before.verdict, e.verdict);
      return isSame ? before : e;
    });
    // Unfreeze the order only if this message has new columns or another offset. Otherwise, it only updates the window.
    if (m.columns !== null || m.offset !== this.offset) this.frozen = null;
    this.offset = this.requestedOffset = m.offset;
    this.updateCounts(m);
    this.isRequestPending = false;
    this.isComplete = true;
    // If this message answers the search for an object's position, request no other rows yet: the table first scrolls
    // to the object, and then requests the rows that it needs.
    if (!this.isLocatePending) this.requestIfNeeded(...this.neededRange);
    this.isLocatePending = false;
    return true;
  }

  private applyEvents(m: WindowEventsMessage): boolean {
    if (!this.isComplete) return false;
    const removed = new Map<string, RemovalReason>();
    const isUnfiltered = this.matching === this.total && m.matching === m.total;
    for (const e of m.events) {
      switch (e.op) {
        case "insert": {
          if (e.at > this.entries.length) return false;
          const next = entryOf(e.row, true, commonAuthor(this.byKey.get(keyOf(e.row.ns, e.row.name)), e.by ?? null));
          this.entries.splice(e.at, 0, next);
          // Record a move if the row itself moved into the window, not if other rows pushed it in. If the event has an
          // author, the row itself has changed. Without a filter, the list already contained this row, so its change
          // has moved the row.
          this.frozen?.order.recordChange(
            next.key,
            true,
            true,
            removed.has(next.key) ? removed.get(next.key) === "moved" : isUnfiltered && e.by !== undefined,
          );
          break;
        }
        case "remove": {
          const [old] = this.entries.splice(e.at, 1);
          if (old === undefined) return false;
          removed.set(old.key, e.why);
          const now = e.now === undefined ? null : changedEntry({ ...old, isAdded: false }, e.now);
          if (now !== null) this.frozen?.departed.set(old.key, now);
          break;
        }
        case "update": {
          const old = this.entries[e.at];
          if (old === undefined || old.uid !== e.uid) return false;
          const next = changedEntry(old, e);
          if (next === null) return false;
          this.entries[e.at] = next;
        }
      }
    }
    this.updateCounts(m);
    for (const [key, why] of removed) if (!this.byKey.has(key)) this.recordRemoval(key, why);
    return true;
  }

  private updateCounts(m: WindowMessage | WindowEventsMessage): void {
    this.total = m.total;
    this.matching = m.matching;
    this.severityCounts = { failed: m.failing - m.degraded, degraded: m.degraded, progressing: m.waiting };
    this.byKey = new Map(this.entries.map((e) => [e.key, e]));
    for (const key of this.deletedKeys) if (this.byKey.has(key)) this.deletedKeys.delete(key);
  }

  private recordRemoval(key: string, why: RemovalReason): void {
    if (why === "gone") this.deletedKeys.add(key);
    for (const oldest of this.deletedKeys) if (this.deletedKeys.size > windowSize) this.deletedKeys.delete(oldest);
    // Without `why`, the row has not changed: other rows pushed it out of the window, so record nothing. For "moved",
    // record a move. For other reasons, record a removal if the window contained the row at the start of the freeze.
    if (why !== undefined && (why === "moved" || this.frozen?.keys.has(key) === true))
      this.frozen?.order.recordChange(key, true, why === "moved", true);
  }
}
