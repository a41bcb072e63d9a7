// The rows of one subscription: what the messages say, filtered and in order.
//
// An entry is never changed once made; an update makes a new one and marks the
// old one dead. One that stays where it is takes the place of the old one. Where
// rows come, go or move the order is kept by dropping the dead and merging the
// few new ones in, once a frame, however many events came; and the table sees by
// identity which rows are to be drawn again.

import { Hold } from "./hold.ts";
import { compareRanks, natural, rank, type Rank, type Sort } from "./sort.ts";
import { changedEntry, entryOf, keyOf, type Entry, type Ordered } from "./ordered.ts";
import { telling, toneIn, toneOf, type Telling, type Tone } from "./tone.ts";
import type { Column, Message } from "./wire.ts";

// What is to be done before rows are seen: nothing, to merge in what has come, that
// and to filter all anew, or to sort all anew.
const stales = ["no", "merge", "filter", "all"] as const;

export class Rows implements Ordered {
  columns: readonly Column[] = [];
  /** A whole snapshot has come. */
  complete = false;
  version = 0;
  private byKey = new Map<string, Entry>();
  private incoming: Map<string, Entry> | null = null;
  private sort: Sort | null = null;
  private sortIndex = -1;
  private terms: readonly string[] = [];
  private sorted: Entry[] = []; // all of them
  private filtered: Entry[] = []; // those that the filter lets through; the same array where there is none
  private fresh: Entry[] = [];
  private stale: (typeof stales)[number] = "no";
  private inOrder = false; // byKey is in the order that is without a sort
  private comes: { inOrder: boolean; last: Entry | null } = { inOrder: true, last: null }; // of the snapshot under way
  private order: Hold | null = null;
  private told: { readonly of: readonly Column[]; readonly telling: readonly Telling[] } = { of: [], telling: [] };

  /** How many rows there are, filtered out or not. */
  get total(): number {
    return this.byKey.size;
  }

  /** Keeps the order as it is seen now, or lets it go. Another sort or filter begins anew. */
  hold(on: boolean): void {
    if (on === (this.order !== null)) return;
    this.order = on ? new Hold(this.visible()) : null;
    if (!on) this.version++; // Where it begins nothing is seen of it.
  }

  /** Whether the order is kept. */
  get held(): boolean {
    return this.order !== null;
  }

  /** What waits to be let in while the order is held, in words; empty for nothing. */
  get waiting(): string {
    return this.order?.words() ?? "";
  }

  get matching(): number {
    return this.visible().length;
  }

  get length(): number {
    return this.shown().length;
  }

  /** Each as it is now; one that is gone as it was last. */
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

  /** How many rows of a snapshot under way have come. */
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

  /** Keeps the rows that hold every word of q in their namespace, name or cells. */
  setFilter(q: string): void {
    this.order = null;
    this.terms = q.toLowerCase().split(/\s+/).filter((t) => t !== "");
    this.touch("filter");
  }

  /** The rows that the filter lets through, in order. Not to be changed by the caller. */
  visible(): readonly Entry[] {
    if (this.stale === "no") return this.filtered;
    const filters = this.terms.length > 0;
    const fresh = this.fresh.filter((e) => !e.dead).sort(this.compare);
    if (this.stale === "all") this.sorted = this.sortAll();
    else this.sorted = this.merge(this.sorted, fresh);
    if (this.stale === "merge" && filters) this.filtered = this.merge(this.filtered, fresh.filter((e) => this.matches(e)));
    else this.filtered = filters ? this.sorted.filter((e) => this.matches(e)) : this.sorted;
    this.stale = "no";
    this.fresh = [];
    return this.filtered;
  }

  private sortAll(): Entry[] {
    const all = [...this.byKey.values()];
    return this.inOrder && this.sort === null ? all : all.sort(this.compare);
  }

  /** Forgets a snapshot that did not come to its end. */
  restart(): void {
    this.incoming = null;
  }

  /** Takes a message. False: it does not fit what is held, so a new snapshot is needed. */
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
    if (this.order !== null) for (const key of new Set([...this.byKey.keys(), ...incoming.keys()])) this.note(this.byKey.get(key), incoming.get(key));
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
          if (old === undefined) break; // It is gone already.
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
    if (old === undefined) this.inOrder = false; // A map keeps a new key last.
    else old.dead = true;
    this.note(old, e);
    if (old !== undefined && this.matches(old) === this.matches(e) && this.compare(old, e) === 0 && this.replace(old, e)) return;
    if (this.stale === "all") return void this.version++;
    this.fresh.push(e);
    // Nobody looks, as in a hidden tab: then sorting anew is cheaper than keeping what to merge.
    this.touch(this.fresh.length > this.byKey.size ? "all" : "merge");
  }

  // Tells the order that is held what a row was and is; undefined where there was, or is, none.
  private note(old: Entry | undefined, e: Entry | undefined): void {
    const key = (e ?? old)?.key;
    if (this.order === null || key === undefined) return;
    const moves = old === undefined || e === undefined || this.compare(old, e) !== 0;
    this.order.note(key, old !== undefined && this.matches(old), e !== undefined && this.matches(e), moves);
  }

  // Puts an entry in the place of the one before it; false if that has none yet.
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
    // The few are searched for among the many, and what lies between is copied.
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

  // The index of the first of the sorted entries, from one on, that comes after e.
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

  // Less than 0 where a comes before b.
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

  /** Reads a row as the filter does, so that a first filter is as quick as the next. */
  warm(e: Entry): void {
    this.hayOf(e);
  }

  private hayOf(e: Entry): string {
    return (e.hay ??= [e.ns, e.name, ...e.cells.filter((_, i) => this.columns[i]?.relative !== true)].join(" ").toLowerCase());
  }

  count(tone: Tone): number {
    let n = 0;
    for (const e of this.byKey.values()) if (this.stands(e, tone)) n++;
    return n;
  }

  private stands(e: Entry, tone: Tone): boolean {
    if (e.failing === null) {
      if (this.told.of !== this.columns) this.told = { of: this.columns, telling: telling(this.columns.map((c) => c.name)) };
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

// The order without a sort; it breaks the ties of every other.
const byName = (a: Entry, b: Entry): number => (a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
