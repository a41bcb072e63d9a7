// The rows of one subscription, filtered and in order.
//
// An Entry is one version of a row, and immutable. An update creates a new entry and marks the old one dead. If the row
// stays at its position, the new entry replaces the old one in place. When rows are added, removed or moved, the dead
// entries are dropped and the few new ones are merged in. This happens once per animation frame, however many events
// have arrived. The table compares entries by identity to find the rows that it must draw again.

import { Hold } from "./hold.ts";
import { compareRanks, natural, rank, type Rank, type Sort } from "./sort.ts";
import { changedEntry, entryOf, keyOf, type Entry, type Ordered } from "./ordered.ts";
import { telling, toneIn, toneOf, type Telling, type Tone } from "./tone.ts";
import type { Column, Message } from "./wire.ts";

// The work that is due before rows are read, in increasing order: nothing; merge new entries into the sorted rows;
// also filter all rows again; or sort all rows again.
const stales = ["no", "merge", "filter", "all"] as const;

export class Rows implements Ordered {
  columns: readonly Column[] = [];
  /** Whether a complete snapshot has arrived. */
  complete = false;
  version = 0;
  private byKey = new Map<string, Entry>();
  private incoming: Map<string, Entry> | null = null;
  private sort: Sort | null = null;
  private sortIndex = -1;
  private terms: readonly string[] = [];
  private sorted: Entry[] = []; // all rows
  private filtered: Entry[] = []; // the rows that match the filter; the same array as sorted if there is no filter
  private fresh: Entry[] = [];
  private stale: (typeof stales)[number] = "no";
  private inOrder = false; // whether byKey is in the default order, by namespace and name
  // the same as inOrder for the snapshot that is arriving, and the last entry of it so far
  private comes: { inOrder: boolean; last: Entry | null } = { inOrder: true, last: null };
  private order: Hold | null = null;
  private told: { readonly of: readonly Column[]; readonly telling: readonly Telling[] } = { of: [], telling: [] };

  /** How many rows there are, including those that the text filter hides. */
  get total(): number {
    return this.byKey.size;
  }

  /** Freezes the visible order (on), or unfreezes it. A new sort order or filter unfreezes it too. */
  hold(on: boolean): void {
    if (on === (this.order !== null)) return;
    this.order = on ? new Hold(this.visible()) : null;
    if (!on) this.version++; // Freezing changes nothing that is visible.
  }

  /** Whether the order is frozen. */
  get held(): boolean {
    return this.order !== null;
  }

  /** Describes the changes that wait until the order is no longer frozen; empty for none. */
  get waiting(): string {
    return this.order?.words() ?? "";
  }

  get matching(): number {
    return this.visible().length;
  }

  get length(): number {
    return this.shown().length;
  }

  /** Returns the rows at these positions in their newest versions. A frozen order may still include deleted rows. */
  slice(from: number, to: number): readonly Entry[] {
    return this.shown().slice(from, to).map((e) => this.byKey.get(e.key) ?? e);
  }

  indexOf(key: string): number {
    return this.shown().findIndex((e) => e.key === key);
  }

  seek(): boolean {
    return false;
  }

  private shown(): readonly Entry[] {
    return this.order?.entries ?? this.visible();
  }

  /** How many rows of an incomplete snapshot have arrived. */
  get arriving(): number {
    return this.incoming?.size ?? 0;
  }

  get(key: string): Entry | undefined {
    return this.byKey.get(key);
  }

  gone(key: string): boolean {
    return !this.byKey.has(key);
  }

  all(): IterableIterator<Entry> {
    return this.byKey.values();
  }

  setSort(sort: Sort | null): void {
    this.order = null;
    this.sort = sort;
    this.rerank();
  }

  /** Filters the rows: those match whose namespace, name or cells contain every word of q. */
  setFilter(q: string): void {
    this.order = null;
    this.terms = q.toLowerCase().split(/\s+/).filter((t) => t !== "");
    this.touch("filter");
  }

  /** Returns the rows that match the filter, in order. The caller must not change the array. */
  visible(): readonly Entry[] {
    if (this.stale === "no") return this.filtered;
    const filters = this.terms.length > 0;
    const fresh = this.fresh.filter((e) => !e.dead).sort(this.compare);
    if (this.stale === "all") this.sorted = this.sortAll();
    else this.sorted = this.merge(this.sorted, fresh);
    if (this.stale === "merge" && filters)
      this.filtered = this.merge(
        this.filtered,
        fresh.filter((e) => this.matches(e)),
      );
    else this.filtered = filters ? this.sorted.filter((e) => this.matches(e)) : this.sorted;
    this.stale = "no";
    this.fresh = [];
    return this.filtered;
  }

  private sortAll(): Entry[] {
    const all = [...this.byKey.values()];
    return this.inOrder && this.sort === null ? all : all.sort(this.compare);
  }

  /** Discards a snapshot that did not arrive completely. */
  restart(): void {
    this.incoming = null;
  }

  /** Applies a message. Returns false if it contradicts the present rows, so that a new snapshot is needed. */
  apply(m: Extract<Message, { type: "rows" | "row-events" }>): boolean {
    return m.type === "rows" ? this.applySnapshot(m) : this.applyEvents(m);
  }

  private applySnapshot(m: Extract<Message, { type: "rows" }>): boolean {
    const first = this.incoming === null;
    const incoming = (this.incoming ??= new Map());
    if (m.columns !== null) {
      if (JSON.stringify(m.columns) !== JSON.stringify(this.columns)) this.order = null;
      this.columns = m.columns;
    }
    else if (first && this.columns.length === 0 && m.rows.length > 0) return false;
    if (first) this.comes = { inOrder: true, last: null };
    for (const row of m.rows) {
      const e = this.ranked(entryOf(row, false, null));
      const { last } = this.comes;
      if (last !== null && byName(last, e) >= 0) this.comes.inOrder = false;
      this.comes.last = e;
      incoming.set(e.key, e);
    }
    if (!m.last) return true;
    if (this.order !== null)
      for (const key of new Set([...this.byKey.keys(), ...incoming.keys()]))
        this.note(this.byKey.get(key), incoming.get(key));
    this.byKey = incoming;
    this.inOrder = this.comes.inOrder;
    this.incoming = null;
    this.complete = true;
    this.rerank();
    return true;
  }

  private applyEvents(m: Extract<Message, { type: "row-events" }>): boolean {
    if (!this.complete || this.incoming !== null) return false;
    for (const e of m.events) {
      switch (e.op) {
        case "add":
          this.put(this.ranked(entryOf(e.row, true, e.by ?? null)));
          break;
        case "update": {
          const old = this.byKey.get(keyOf(e.ns, e.name));
          if (old === undefined) return false;
          const next = changedEntry(old, e.rv, e.cells, e.by ?? null);
          if (next === null) return false;
          this.put(this.ranked(next));
          break;
        }
        case "delete": {
          const old = this.byKey.get(keyOf(e.ns, e.name));
          if (old === undefined) break; // The row is already deleted.
          old.dead = true;
          this.byKey.delete(old.key);
          this.note(old, undefined);
          this.touch("merge");
        }
      }
    }
    return true;
  }

  private put(e: Entry): void {
    const old = this.byKey.get(e.key);
    this.byKey.set(e.key, e);
    if (old === undefined) this.inOrder = false; // A map appends a new key at the end.
    else old.dead = true;
    this.note(old, e);
    if (
      old !== undefined &&
      this.matches(old) === this.matches(e) &&
      this.compare(old, e) === 0 &&
      this.replace(old, e)
    )
      return;
    if (this.stale === "all") return void this.version++;
    this.fresh.push(e);
    // New entries pile up if nothing reads the rows, as in a hidden tab. Then sorting all is cheaper than merging.
    this.touch(this.fresh.length > this.byKey.size ? "all" : "merge");
  }

  // Records a change of a row while the order is frozen. old is undefined for a new row, e for a deleted one.
  private note(old: Entry | undefined, e: Entry | undefined): void {
    const key = (e ?? old)?.key;
    if (this.order === null || key === undefined) return;
    const moves = old === undefined || e === undefined || this.compare(old, e) !== 0;
    this.order.note(key, old !== undefined && this.matches(old), e !== undefined && this.matches(e), moves);
  }

  // Replaces an entry in place. Returns false if the old entry is not in the sorted list yet.
  private replace(old: Entry, e: Entry): boolean {
    for (const list of new Set([this.sorted, this.filtered])) {
      const at = this.place(list, e, 0);
      if (list[at] === old) list[at] = e;
      else if (list === this.sorted) return false;
    }
    return true;
  }

  private merge(sorted: readonly Entry[], fresh: readonly Entry[]): Entry[] {
    const kept = sorted.filter((e) => !e.dead);
    if (fresh.length === 0) return kept;
    // Find the position of each new entry by binary search, and copy the kept entries before it.
    const parts: Entry[][] = [];
    let from = 0;
    for (const f of fresh) {
      const to = this.place(kept, f, from);
      parts.push(kept.slice(from, to), [f]);
      from = to;
    }
    parts.push(kept.slice(from));
    return parts.flat();
  }

  // Returns the index of the first entry, from the index from on, that does not sort before e.
  private place(entries: readonly Entry[], e: Entry, from: number): number {
    let [low, high] = [from, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.compare(entries[middle] as Entry, e) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private ranked(e: Entry): Entry {
    e.rank = this.rankOf(e);
    return e;
  }

  private rerank(): void {
    const name = this.sort?.column;
    this.sortIndex = this.columns.findIndex((c) => c.name.toLowerCase() === name);
    for (const e of this.byKey.values()) e.rank = this.rankOf(e);
    this.touch("all");
  }

  private rankOf(e: Entry): Rank {
    const column = this.columns[this.sortIndex];
    if (column !== undefined) return rank(e.cells[this.sortIndex] ?? null, column);
    return this.sort?.column === "namespace" ? natural(e.ns) : null;
  }

  // The present sort order, as a comparison function: negative if a sorts before b.
  private readonly compare = (a: Entry, b: Entry): number =>
    compareRanks(a.rank, b.rank, this.sort?.descending ?? false) || byName(a, b);

  private matches(e: Entry): boolean {
    if (this.terms.length === 0) return true;
    const hay = this.hayOf(e);
    return this.terms.every((t) => {
      const tone = toneOf(t);
      return tone === null ? hay.includes(t) : this.stands(e, tone);
    });
  }

  /** Computes and caches the text of a row that is searched, so that the first filter is as fast as later ones. */
  warm(e: Entry): void {
    this.hayOf(e);
  }

  private hayOf(e: Entry): string {
    return (e.hay ??= [e.ns, e.name, ...e.cells.filter((_, i) => this.columns[i]?.relative !== true)]
      .join(" ")
      .toLowerCase());
  }

  count(tone: Tone): number {
    let n = 0;
    for (const e of this.byKey.values()) if (this.stands(e, tone)) n++;
    return n;
  }

  private stands(e: Entry, tone: Tone): boolean {
    if (e.failing === null) {
      if (this.told.of !== this.columns)
        this.told = { of: this.columns, telling: telling(this.columns.map((c) => c.name)) };
      e.failing = false;
      for (const t of this.told.telling) {
        const one = toneIn(this.told.telling, e.cells, t);
        e.failing ||= one === "bad";
        e.waiting ||= one === "warn";
      }
    }
    return tone === "bad" ? e.failing : e.waiting;
  }

  private touch(what: "merge" | "filter" | "all"): void {
    if (what === "all") this.fresh = [];
    if (stales.indexOf(what) > stales.indexOf(this.stale)) this.stale = what;
    this.version++;
  }
}

// The default order, by namespace and name. It also orders rows that are equal in the sort column.
const byName = (a: Entry, b: Entry): number =>
  a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
