// The rows of one subscription, filtered and sorted in the browser. Changes are merged once per animation frame.

import { FrozenOrder } from "./frozen-order.ts";
import { compareRanks, naturalKey, rank, type Rank, type Sort } from "./sort.ts";
import { cellOf, changedEntry, entryOf, keyOf, type Entry, type RowSource } from "./row-source.ts";
import { severityMatcher, type CountedSeverity } from "./severity.ts";
import { severities } from "../net/verdict.ts";
import type { Column, Message, Severity } from "../net/wire.ts";

// The work that is due before rows are displayed. "filter" includes "merge". "all" includes "filter", and also sorting.
const pendingWork = ["no", "merge", "filter", "all"] as const;

export class Rows implements RowSource {
  columns: readonly Column[] = [];
  isComplete = false;
  version = 0;
  private byKey = new Map<string, Entry>();
  private incoming: Map<string, Entry> | null = null;
  private sort: Sort | null = null;
  private sortIndex = -1;
  private isWorstFirst = false; // whether the sort order "auto" is by severity now
  private terms: readonly string[] = [];
  private severityTerms: readonly ((severity: Severity) => boolean)[] = [];
  private sorted: Entry[] = [];
  private filtered: Entry[] = []; // the same array as `sorted` if there is no filter
  private newEntries: Entry[] = [];
  private pendingWorkLevel: (typeof pendingWork)[number] = "no";
  private isInDefaultOrder = false; // whether the rows in the map byKey are in order of namespace and name
  // Whether the rows that arrived so far are sorted by namespace and name, and the last row that arrived.
  private incomingOrder: { isInDefaultOrder: boolean; last: Entry | null } = { isInDefaultOrder: true, last: null };
  private frozenOrder: FrozenOrder | null = null;

  get total(): number {
    return this.byKey.size;
  }

  /** Freezes or unfreezes the positions of rows. setSort and setFilter unfreeze them, too. */
  setFrozen(on: boolean): void {
    if (on === (this.frozenOrder !== null)) return;
    this.frozenOrder = on ? new FrozenOrder(this.visible()) : null;
    if (!on) this.version++; // the end of a freeze can move rows; its start changes nothing
  }

  get isFrozen(): boolean {
    return this.frozenOrder !== null;
  }

  get pendingText(): string {
    return this.frozenOrder?.pendingText() ?? "";
  }

  get matching(): number {
    return this.visible().length;
  }

  get length(): number {
    return this.positions().length;
  }

  /** Returns the rows in a range of positions. While the order is frozen, deleted rows keep their positions. */
  slice(from: number, to: number): readonly Entry[] {
    return this.positions()
      .slice(from, to)
      .map((e) => this.byKey.get(e.key) ?? e);
  }

  indexOf(key: string): number {
    return this.positions().findIndex((e) => e.key === key);
  }

  requestAround(): boolean {
    return false;
  }

  private positions(): readonly Entry[] {
    return this.frozenOrder?.entries ?? this.visible();
  }

  get arriving(): number {
    return this.incoming?.size ?? 0;
  }

  get(key: string): Entry | undefined {
    return this.byKey.get(key);
  }

  isDeleted(key: string): boolean {
    return !this.byKey.has(key);
  }

  all(): IterableIterator<Entry> {
    return this.byKey.values();
  }

  setSort(sort: Sort | null): void {
    this.frozenOrder = null;
    this.sort = sort;
    this.recomputeRanks();
  }

  /** Sets the text filter. A row matches if its namespace, name and cells contain every word of `q`. */
  setFilter(q: string): void {
    this.frozenOrder = null;
    const terms = q
      .toLowerCase()
      .split(/\s+/)
      .filter((t) => t !== "");
    this.terms = terms.filter((t) => severityMatcher(t) === null);
    this.severityTerms = terms.map(severityMatcher).filter((match) => match !== null);
    this.markStale("filter");
  }

  visible(): readonly Entry[] {
    if (this.pendingWorkLevel === "no") return this.filtered;
    const hasFilter = this.terms.length > 0 || this.severityTerms.length > 0;
    const newEntries = this.newEntries.filter((e) => !e.isDead).sort(this.compare);
    if (this.pendingWorkLevel === "all") this.sorted = this.sortAll();
    else this.sorted = this.merge(this.sorted, newEntries);
    if (this.pendingWorkLevel === "merge" && hasFilter)
      this.filtered = this.merge(
        this.filtered,
        newEntries.filter((e) => this.matches(e)),
      );
    else this.filtered = hasFilter ? this.sorted.filter((e) => this.matches(e)) : this.sorted;
    this.pendingWorkLevel = "no";
    this.newEntries = [];
    return this.filtered;
  }

  private sortAll(): Entry[] {
    const all = [...this.byKey.values()];
    const isByName = this.sort === null || (this.sort.column === "auto" && this.sortIndex < 0 && !this.isWorstFirst);
    return this.isInDefaultOrder && isByName ? all : all.sort(this.compare);
  }

  restart(): void {
    this.incoming = null;
  }

  /**
   * Applies a message. Returns false if the message does not match the page's rows. The caller must then request a new
   * snapshot.
   */
  apply(m: Extract<Message, { type: "rows" | "row-events" }>): boolean {
    return m.type === "rows" ? this.applySnapshot(m) : this.applyEvents(m);
  }

  private applySnapshot(m: Extract<Message, { type: "rows" }>): boolean {
    const first = this.incoming === null;
    const incoming = (this.incoming ??= new Map());
    if (m.columns !== null) {
      if (JSON.stringify(m.columns) !== JSON.stringify(this.columns)) this.frozenOrder = null;
      this.columns = m.columns;
    } else if (first && this.columns.length === 0 && m.rows.length > 0) return false;
    if (first) this.incomingOrder = { isInDefaultOrder: true, last: null };
    for (const row of m.rows) {
      const e = this.withRank(entryOf(row, false, null));
      const { last } = this.incomingOrder;
      if (last !== null && byName(last, e) >= 0) this.incomingOrder.isInDefaultOrder = false;
      this.incomingOrder.last = e;
      incoming.set(e.key, e);
    }
    if (!m.last) return true;
    if (this.frozenOrder !== null)
      for (const key of new Set([...this.byKey.keys(), ...incoming.keys()]))
        this.recordChange(this.byKey.get(key), incoming.get(key));
    this.byKey = incoming;
    this.isInDefaultOrder = this.incomingOrder.isInDefaultOrder;
    this.incoming = null;
    this.isComplete = true;
    this.recomputeRanks();
    return true;
  }

  private applyEvents(m: Extract<Message, { type: "row-events" }>): boolean {
    if (!this.isComplete || this.incoming !== null) return false;
    for (const e of m.events) {
      switch (e.op) {
        case "add":
          this.putEntry(this.withRank(entryOf(e.row, true, e.by ?? null)));
          break;
        case "update": {
          const old = this.byKey.get(keyOf(e.ns, e.name));
          if (old === undefined) return false;
          const next = changedEntry(old, e);
          if (next === null) return false;
          this.putEntry(this.withRank(next));
          break;
        }
        case "delete": {
          const old = this.byKey.get(keyOf(e.ns, e.name));
          if (old === undefined) break;
          old.isDead = true;
          this.byKey.delete(old.key);
          this.recordChange(old, undefined);
          this.markStale("merge");
        }
      }
    }
    if (this.sort?.column === "auto" && this.hasFailed() !== this.isWorstFirst) this.recomputeRanks();
    return true;
  }

  private putEntry(e: Entry): void {
    const old = this.byKey.get(e.key);
    this.byKey.set(e.key, e);
    if (old === undefined)
      this.isInDefaultOrder = false; // the map has the new row at its end, which can be the wrong position
    else old.isDead = true;
    this.recordChange(old, e);
    if (
      old !== undefined &&
      this.matches(old) === this.matches(e) &&
      this.compare(old, e) === 0 &&
      this.replace(old, e)
    )
      return;
    if (this.pendingWorkLevel === "all") return void this.version++;
    this.newEntries.push(e);
    // While the browser tab is hidden, new entries accumulate. If there are more new entries than rows, sort all rows,
    // because this takes less time than merging the new entries.
    this.markStale(this.newEntries.length > this.byKey.size ? "all" : "merge");
  }

  private recordChange(old: Entry | undefined, e: Entry | undefined): void {
    const key = (e ?? old)?.key;
    if (this.frozenOrder === null || key === undefined) return;
    const hasMoved = old === undefined || e === undefined || this.compare(old, e) !== 0;
    this.frozenOrder.recordChange(
      key,
      old !== undefined && this.matches(old),
      e !== undefined && this.matches(e),
      hasMoved,
    );
  }

  // Replaces an entry in the sorted list. Returns false if that list does not contain the old entry yet.
  private replace(old: Entry, e: Entry): boolean {
    for (const list of new Set([this.sorted, this.filtered])) {
      const at = this.insertionIndex(list, e, 0);
      if (list[at] === old) list[at] = e;
      else if (list === this.sorted) return false;
    }
    return true;
  }

  private merge(sorted: readonly Entry[], newEntries: readonly Entry[]): Entry[] {
    const remaining = sorted.filter((e) => !e.isDead);
    if (newEntries.length === 0) return remaining;
    const parts: Entry[][] = [];
    let from = 0;
    for (const f of newEntries) {
      const to = this.insertionIndex(remaining, f, from);
      parts.push(remaining.slice(from, to), [f]);
      from = to;
    }
    parts.push(remaining.slice(from));
    return parts.flat();
  }

  private insertionIndex(entries: readonly Entry[], e: Entry, from: number): number {
    let [low, high] = [from, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.compare(entries[middle] as Entry, e) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private withRank(e: Entry): Entry {
    e.rank = this.rankOf(e);
    return e;
  }

  private recomputeRanks(): void {
    const name = this.sort?.column;
    this.sortIndex = this.columns.findIndex((c) => c.name.toLowerCase() === name);
    this.isWorstFirst = name === "severity" || (name === "auto" && this.hasFailed());
    for (const e of this.byKey.values()) e.rank = this.rankOf(e);
    this.markStale("all");
  }

  private rankOf(e: Entry): Rank {
    const column = this.columns[this.sortIndex];
    if (column !== undefined) return rank(cellOf(e, this.sortIndex, column), column);
    if (this.isWorstFirst) return severities.length - severities.indexOf(e.verdict.severity);
    return this.sort?.column === "namespace" ? naturalKey(e.ns) : null;
  }

  private readonly compare = (a: Entry, b: Entry): number =>
    compareRanks(a.rank, b.rank, this.sort?.descending ?? false) || byName(a, b);

  private matches(e: Entry): boolean {
    if (!this.severityTerms.every((match) => match(e.verdict.severity))) return false;
    if (this.terms.length === 0) return true;
    const searchText = this.searchTextOf(e);
    return this.terms.every((t) => searchText.includes(t));
  }

  /** Caches the text that the filter searches, so that the first filter is as fast as later ones. */
  cacheSearchText(e: Entry): void {
    this.searchTextOf(e);
  }

  private searchTextOf(e: Entry): string {
    return (e.searchText ??= [`${e.ns}/${e.name}`, ...e.cells.filter((_, i) => this.columns[i]?.relative !== true)]
      .join(" ")
      .toLowerCase());
  }

  private hasFailed(): boolean {
    for (const e of this.byKey.values()) if (e.verdict.severity === "failed") return true;
    return false;
  }

  countSeverity(severity: CountedSeverity): number {
    let n = 0;
    for (const e of this.byKey.values()) if (e.verdict.severity === severity) n++;
    return n;
  }

  private markStale(work: "merge" | "filter" | "all"): void {
    if (work === "all") this.newEntries = [];
    if (pendingWork.indexOf(work) > pendingWork.indexOf(this.pendingWorkLevel)) this.pendingWorkLevel = work;
    this.version++;
  }
}

// The default order, which also applies to rows that are equal in the sort column.
const byName = (a: Entry, b: Entry): number =>
  a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
