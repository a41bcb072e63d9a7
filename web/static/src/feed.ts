// A Feed is one subscription to the rows of a list: it has the rows, and the state of the subscription. It draws
// nothing, and notifies a Watcher of what to draw again.

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
  /** Called when a snapshot is complete. columns: whether its columns differ from the previous ones. */
  arrived(columns: boolean): void;
  /** Called when rows have changed. */
  moved(): void;
  /** Called when the rows were discarded: permission was lost, the resource is gone, or the rows were wrong. */
  dropped(): void;
  /** Called with the newest change of a row. */
  happened?(newest: Told): void;
  /** Called when all rows are read again, because missed changes could not be replayed. */
  reset?(): void;
  /** Called when the status texts may have changed. */
  told(): void;
  /** Returns the position of the first visible row. */
  at?(): number;
}

/** The minimum time in ms between two messages, and between two redraws. */
export const gap = 50;
// ms that a long computation may block before it pauses; an animation frame has 16 ms.
const slice = 8;
const patience = 300; // ms; if rows in a new order take longer, the status text mentions it
const step = 5000;

export class Feed implements Handler {
  rows: Ordered;
  /** How many changes have arrived. */
  events = 0;
  private state: State | null = null;
  private stale: string | null = null; // see Known
  private problem: Problem | null = null;
  private windowed: boolean;
  // Whether the window, a part of the list sorted by the server, is requested in the default order, because the sort
  // column does not exist. A complete list is in the default order then, too.
  private unsorted = false;
  private behind = false; // whether a requested snapshot will replace the rows
  private reordered = 0; // the number of the last request for another order
  private soon = false; // whether the wait for another order is still so short that it needs no status text
  // Whether the rows are being read again, because data was inconsistent or the server sent a reset.
  private anew = false;
  private checks = 0;
  private subscription: Subscription;

  /** limit: the maximum number of rows that the page may have at once. expected: about how many rows will arrive. */
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
    return this.live.subscribe(
      this.windowed
        ? { ...what, view: "window", q, sort: by, offset: windowAt(at), count: windowRows }
        : { ...what, view: "table" },
      this,
    );
  }

  // Switches to a window: the page then has only the rows near the viewport, and the server sorts and filters all. It
  // is called when there are more rows than the page may have.
  private toWindow(shown: boolean): void {
    this.windowed = true;
    this.checks++;
    if (!shown) this.rows = this.none();
    else if (this.rows instanceof Rows) this.rows.restart();
    this.reorder(this.watcher.at?.());
  }

  // Subscribes again, for another order or filter, or to switch to a window. The present rows stay until the new ones
  // arrive. The status text mentions the wait only if it is longer than patience.
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
    return {
      connection,
      since,
      said,
      state: this.state,
      stale: this.stale,
      complete: this.rows.complete && (!this.behind || this.soon),
      arriving: this.rows.arriving,
      expected: this.expected,
      problem: this.problem,
      anew: this.anew,
    };
  }

  restart(): void {
    this.checks++;
    if (this.rows instanceof Rows) this.rows.restart();
    this.behind = true;
    this.watcher.told();
  }

  /** Whether the rows are those that were requested last, so that no snapshot is about to replace them. */
  get settled(): boolean {
    return this.rows.complete && !this.behind;
  }

  /**
   * Called when the state of the connection has changed. If it was lost, the server will send the list's state again.
   */
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
        const newest =
          m.type === "row-events" && this.rows instanceof Rows && this.watcher.happened !== undefined
            ? newestTold(m.events, this.rows)
            : null;
        if (!(this.rows instanceof Rows) || !this.rows.apply(m))
          return this.again("an event does not match the cached rows");
        this.problem = null;
        // A complete list may grow somewhat above the limit before it becomes a window, and further while its order is
        // frozen under the pointer.
        if (
          m.type === "rows"
            ? (m.last ? this.rows.total : this.rows.arriving) > this.limit
            : this.rows.total > (this.rows.held ? 2 : 1.2) * this.limit
        )
          return this.toWindow(complete);
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
        // If the list became too long, its rows stay on the screen until the window arrives.
        const window = this.rows instanceof Window ? this.rows : this.none();
        if (!(window instanceof Window) || !window.apply(m))
          return this.again("an event does not match the cached window");
        this.rows = window;
        this.problem = null;
        this.events += m.changes;
        if (m.newest !== null) this.watcher.happened?.(toldOf(m.newest, this.rows.columns));
        // The sort column did not exist before, but does now, so request the sort order again.
        if (this.unsorted && this.rows.columns.some((c) => c.name.toLowerCase() === this.order.sort?.column)) {
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
        // If there are no rows, or they are being read again already, there is nothing to report.
        if (this.rows.total === 0 || this.anew) break;
        this.anew = true;
        this.live.reset(m.reason);
        this.watcher.reset?.();
        break;
      case "state":
        this.state = m;
        if (m.total !== null && (this.what.ns ?? []).length === 0 && (this.what.labels ?? "") === "")
          this.expected = m.total;
        // After permission is lost, or the resource is gone, the rows must not stay on the screen.
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

  // Compares the rows with the server's rows at the same position in the history, by a digest over their keys and
  // versions. Entries are immutable, so the digest can be computed in slices while newer entries arrive.
  private check(m: Extract<Message, { type: "digest" }>): void {
    if (!this.rows.complete || this.behind) return;
    const entries = [...this.rows.all()];
    if (entries.length !== m.count) return this.wrong(`${entries.length} rows are cached, the server has ${m.count}`);
    this.count(entries, 0, 0, m.digest, ++this.checks);
  }

  private count(entries: readonly Entry[], from: number, sum: number, want: string, check: number): void {
    // Stop if the rows have been replaced, or a newer check has started.
    if (check !== this.checks) return;
    const end = performance.now() + slice;
    do {
      const to = Math.min(entries.length, from + step);
      sum = (sum + digest(entries, from, to)) | 0;
      from = to;
    } while (from < entries.length && performance.now() < end);
    if (from < entries.length) return this.later(() => this.count(entries, from, sum, want, check));
    if (hex(sum) !== want) this.wrong("the digest of the cached rows differs from the server's");
  }

  // Prepares the rows for the text filter before the user types one, in slices that do not block the page.
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
