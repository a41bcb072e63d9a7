// What one subscription of rows has told: the rows, and how well they are
// known. It draws nothing; whoever does is told what to look at again.

import { digest, hex } from "./digest.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import type { Entry, Ordered } from "./ordered.ts";
import { Rows } from "./rows.ts";
import type { Sort } from "./sort.ts";
import type { Known } from "./status.ts";
import { newestTold, toldOf, type Told } from "./told.ts";
import { Window, windowAt, windowRows } from "./window.ts";
import type { Message, Problem, Spec, State } from "./wire.ts";

export interface Watcher {
  /** A whole snapshot has come; columns: its columns are others than before. */
  arrived(columns: boolean): void;
  /** Rows have changed. */
  moved(): void;
  /** What was held is gone: it may not be seen, is no more, or was wrong. */
  dropped(): void;
  /** Of what has happened, this is the newest that a row shows. */
  happened?(newest: Told): void;
  /** What was missed could not be replayed: all that is held is read anew. */
  reset?(): void;
  /** What is known, in words, may be another. */
  told(): void;
  /** The place of the first row that is looked at. */
  at?(): number;
}

/** How often what has changed is drawn, and told, at most, in milliseconds. */
export const gap = 50;
// How long a digest is counted at a time: a frame has 16 ms.
const slice = 8;
const patience = 300; // ms
const step = 5000;

export class Feed implements Handler {
  rows: Ordered;
  /** How many changes were told. */
  events = 0;
  private state: State | null = null;
  private stale: string | null = null; // see Known
  private problem: Problem | null = null;
  private windowed: boolean;
  private unsorted = false; // a window by a column that is not there: it has none, as whole lists have
  private behind = false; // the rows held are about to be replaced by a snapshot
  private reordered = 0; // the last time that they were to come in another order,
  private soon = false; // which they are expected to do at once
  private anew = false; // because they, or what came, did not fit, or the server bade it
  private checks = 0;
  private subscription: Subscription;

  /** limit is how many rows are held at most; expected how many there may be. */
  constructor(
    private readonly live: Live,
    private readonly what: Pick<Spec, "resource" | "ns" | "labels" | "fields">,
    private readonly order: { sort: Sort | null; q: string },
    private readonly watcher: Watcher,
    private readonly limit: number,
    private expected: number,
    private readonly later: (run: () => void, ms?: number) => void = (run, ms) => void setTimeout(run, ms),
  ) {
    this.windowed = expected > limit;
    this.rows = this.none();
    this.subscription = this.subscribe();
  }

  private subscribe(at = 0): Subscription {
    const { sort, q } = this.order;
    const by = sort === null || this.unsorted ? "" : `${sort.descending ? "-" : ""}${sort.column}`;
    const what = { ...this.what, every: gap };
    return this.live.subscribe(this.windowed ? { ...what, view: "window", q, sort: by, offset: windowAt(at), count: windowRows } : { ...what, view: "table" }, this);
  }

  // There are more rows than are to be held: the server keeps them.
  private toWindow(shown: boolean): void {
    this.windowed = true;
    this.checks++;
    if (!shown) this.rows = this.none();
    else if (this.rows instanceof Rows) this.rows.restart();
    this.reorder(this.watcher.at?.());
  }

  // Another order or filter, or more than are to be held: the rows held stand until
  // those of the new one come. Only where that takes a while is it worth a word.
  private reorder(at = 0): void {
    this.subscription.close();
    this.behind = this.soon = true;
    this.subscription = this.subscribe(at);
    const time = ++this.reordered;
    this.later(() => {
      if (time !== this.reordered) return;
      this.soon = false;
      this.watcher.told();
    }, patience);
  }

  close(): void {
    this.checks++;
    this.subscription.close();
  }

  setSort(sort: Sort | null): void {
    this.order.sort = sort;
    this.unsorted = false;
    if (this.rows instanceof Rows) this.rows.setSort(sort);
    if (this.windowed) this.reorder();
  }

  setFilter(q: string): void {
    this.order.q = q;
    if (this.rows instanceof Rows) this.rows.setFilter(q);
    if (this.windowed) this.reorder();
  }

  known(): Known {
    const { connection, since, said } = this.live;
    return { connection, since, said, state: this.state, stale: this.stale, complete: this.rows.complete && (!this.behind || this.soon), arriving: this.rows.arriving, expected: this.expected, problem: this.problem, anew: this.anew };
  }

  restart(): void {
    this.checks++;
    if (this.rows instanceof Rows) this.rows.restart();
    this.behind = true;
    this.watcher.told();
  }

  /** The rows held are those that were asked for; others are not to come. */
  get settled(): boolean {
    return this.rows.complete && !this.behind;
  }

  /** The connection is another: over a new one the state is told anew. */
  reconnected(): void {
    if (this.live.connection === "open") return;
    if (this.state?.state === "stale") this.stale = this.state.since;
    this.state = null;
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    this.stale = null;
    switch (m.type) {
      case "rows":
      case "row-events": {
        const { columns, complete } = this.rows;
        const newest = m.type === "row-events" && this.rows instanceof Rows && this.watcher.happened !== undefined ? newestTold(m.events, this.rows) : null;
        if (!(this.rows instanceof Rows) || !this.rows.apply(m)) return this.again("an event does not fit the rows held");
        this.problem = null;
        // What is looked at may grow a while longer, and more so where it stands still under the pointer.
        if (m.type === "rows" ? (m.last ? this.rows.total : this.rows.arriving) > this.limit : this.rows.total > (this.rows.held ? 2 : 1.2) * this.limit) return this.toWindow(complete);
        if (newest !== null) this.watcher.happened?.(newest);
        if (m.type === "row-events") this.events += m.events.length;
        if (m.type === "rows" && m.last) {
          this.checks++;
          this.behind = this.anew = false;
          this.watcher.arrived(columns !== this.rows.columns);
          this.warm(this.rows, [...this.rows.all()], 0);
        }
        this.watcher.moved();
        if (m.type === "row-events") return;
        break;
      }
      case "window":
      case "window-events": {
        const { columns } = this.rows;
        const window = this.rows instanceof Window ? this.rows : this.none(); // Rows that were outgrown stand until then.
        if (!(window instanceof Window) || !window.apply(m)) return this.again("an event does not fit the window held");
        this.rows = window;
        this.problem = null;
        this.events += m.changes;
        if (m.newest !== null) this.watcher.happened?.(toldOf(m.newest, this.rows.columns));
        if (this.unsorted && this.rows.columns.some((c) => c.name.toLowerCase() === this.order.sort?.column)) { // It is there by now.
          this.unsorted = false;
          this.reorder();
        }
        if (m.type === "window" && (this.behind || columns !== this.rows.columns)) {
          this.behind = this.anew = false;
          this.watcher.arrived(columns !== this.rows.columns);
        }
        this.watcher.moved();
        break;
      }
      case "digest":
        return this.check(m);
      case "reset":
        // Of rows that are read anew as it is there is nothing to say twice.
        if (this.rows.total === 0 || this.anew) break;
        this.anew = true;
        this.live.reset(m.reason);
        this.watcher.reset?.();
        break;
      case "state":
        this.state = m;
        if (m.total !== null && (this.what.ns ?? []).length === 0 && (this.what.labels ?? "") === "") this.expected = m.total;
        // A right that was lost takes with it what was seen; so does a kind that went.
        if (m.state === "forbidden" || m.state === "absent") this.drop();
        break;
      case "error":
        if (this.windowed && !this.unsorted && m.problem.title === "Unknown column") {
          this.unsorted = true;
          this.subscription.close();
          this.subscription = this.subscribe();
          return;
        }
        this.problem = m.problem;
        this.drop();
    }
    this.watcher.told();
  }

  // Compares what is held with what the server holds at the same cursor. Entries
  // never change once made, so those held now can be counted bit by bit while
  // newer ones come.
  private check(m: Extract<Message, { type: "digest" }>): void {
    if (!this.rows.complete || this.behind) return;
    const entries = [...this.rows.all()];
    if (entries.length !== m.count) return this.wrong(`${entries.length} rows are held where there are ${m.count}`);
    this.count(entries, 0, 0, m.digest, ++this.checks);
  }

  private count(entries: readonly Entry[], from: number, sum: number, want: string, check: number): void {
    if (check !== this.checks) return; // The rows have been replaced, or are being checked again.
    const end = performance.now() + slice;
    do {
      const to = Math.min(entries.length, from + step);
      sum = (sum + digest(entries, from, to)) | 0;
      from = to;
    } while (from < entries.length && performance.now() < end);
    if (from < entries.length) return this.later(() => this.count(entries, from, sum, want, check));
    if (hex(sum) !== want) this.wrong("the rows held are not those of the server, by their digest");
  }

  // Reads rows for the filter, bit by bit, before somebody filters.
  private warm(rows: Rows, entries: readonly Entry[], from: number): void {
    if (rows !== this.rows) return;
    const end = performance.now() + slice;
    for (; from < entries.length && performance.now() < end; from++) rows.warm(entries[from] as Entry);
    if (from < entries.length) this.later(() => this.warm(rows, entries, from));
  }

  private wrong(why: string): void {
    this.drop();
    this.again(why);
  }

  private again(why: string): void {
    this.anew = true;
    this.subscription.resync(why);
  }

  private drop(): void {
    this.checks++;
    this.rows = this.none();
    this.watcher.dropped();
  }

  private none(): Ordered {
    if (this.windowed) return new Window((offset, around) => this.subscription.move(offset, around));
    const rows = new Rows();
    rows.setSort(this.order.sort);
    rows.setFilter(this.order.q);
    return rows;
  }
}
