// A Feed subscribes to the rows of one list, and calls a FeedListener after each change.

import { digest, hex } from "../net/digest.ts";
import type { Handler, Live, Subscription } from "../net/live.ts";
import type { Entry, RowSource } from "./row-source.ts";
import { Rows } from "./rows.ts";
import type { Sort } from "./sort.ts";
import type { SubscriptionInfo } from "./status.ts";
import { latestChange, latestChangeFrom, type LatestChange } from "./latest-change.ts";
import { WindowRows, windowOffset, windowSize } from "./window.ts";
import type { Message, Problem, SubscriptionSpec, State } from "../net/wire.ts";

export interface FeedListener {
  /** Called when all rows of a snapshot have arrived. `columns` is true if it contained the columns. */
  snapshotArrived(columns: boolean): void;
  rowsChanged(): void;
  /** Called after all rows were dropped: permission lost, resource gone, or rows different from the server's. */
  rowsDiscarded(): void;
  rowChanged?(newest: LatestChange): void;
  /** Called when the server sends all rows again, because it cannot replay the changes that the page missed. */
  reset?(): void;
  statusChanged(): void;
  firstVisibleRow?(): number;
}

/** Minimum time in ms between two messages of the server, and between two redraws. */
export const updateInterval = 50;
// The maximum duration in ms of one step of a long computation. Half an animation frame keeps the page responsive.
const sliceDuration = 8;
const statusDelay = 300; // ms; the status text mentions a wait for newly sorted rows only after this time
const digestStep = 5000;

export class Feed implements Handler {
  rows: RowSource;
  events = 0;
  private state: State | null = null;
  // Since when the data is stale. Set only if the data was already stale when the connection was lost, otherwise null.
  private stale: string | null = null;
  private problem: Problem | null = null;
  private windowed: boolean;
  // Whether the server uses the default order, because the chosen sort column does not exist.
  private unsorted = false;
  private snapshotPending = false;
  private columnsReplaced = false; // whether an earlier message of the present snapshot contained the columns
  private reorderCount = 0;
  private reorderIsRecent = false; // whether the wait for reordered rows is still shorter than statusDelay
  private isReloading = false;
  private checkGeneration = 0;
  private subscription: Subscription;

  /** If the list has more rows than `limit`, the page loads only the rows near the viewport. */
  constructor(
    private readonly live: Live,
    private readonly query: Pick<SubscriptionSpec, "resource" | "ns" | "labels" | "fields">,
    private readonly order: { sort: Sort | null; q: string },
    private readonly listener: FeedListener,
    private readonly limit: number,
    private expectedRows: number,
    private readonly schedule: (run: () => void, ms?: number) => void = (run, ms) => void setTimeout(run, ms),
  ) {
    this.windowed = expectedRows > limit;
    this.rows = this.emptyRows();
    this.subscription = this.subscribe();
  }

  private subscribe(position = 0): Subscription {
    const { sort, q } = this.order;
    const sortText = sort === null || this.unsorted ? "" : `${sort.descending ? "-" : ""}${sort.column}`;
    const query = { ...this.query, every: updateInterval };
    return this.live.subscribe(
      this.windowed
        ? { ...query, view: "window", q, sort: sortText, offset: windowOffset(position), count: windowSize }
        : { ...query, view: "table" },
      this,
    );
  }

  // Switches to loading only the rows near the viewport. If hasRows is true, the old rows stay until new rows arrive.
  private toWindow(hasRows: boolean): void {
    this.windowed = true;
    this.checkGeneration++;
    if (!hasRows) this.rows = this.emptyRows();
    else if (this.rows instanceof Rows) this.rows.restart();
    this.reorder(this.listener.firstVisibleRow?.());
  }

  // Subscribes again with the current sort order and filter, at row `position`. Old rows stay until new rows arrive.
  private reorder(position = 0): void {
    this.subscription.close();
    this.snapshotPending = this.reorderIsRecent = true;
    this.subscription = this.subscribe(position);
    const request = ++this.reorderCount;
    this.schedule(() => {
      if (request !== this.reorderCount) return;
      this.reorderIsRecent = false;
      this.listener.statusChanged();
    }, statusDelay);
  }

  close(): void {
    this.checkGeneration++;
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

  info(): SubscriptionInfo {
    const { connection, since, closeReason } = this.live;
    return {
      connection,
      since,
      closeReason,
      state: this.state,
      stale: this.stale,
      isComplete: this.rows.isComplete && (!this.snapshotPending || this.reorderIsRecent),
      arriving: this.rows.arriving,
      expected: this.expectedRows,
      problem: this.problem,
      isReloading: this.isReloading,
    };
  }

  restart(): void {
    this.checkGeneration++;
    if (this.rows instanceof Rows) this.rows.restart();
    this.snapshotPending = true;
    this.listener.statusChanged();
  }

  /** Whether the rows are complete, and the page does not wait for a requested snapshot of them. */
  get isCurrent(): boolean {
    return this.rows.isComplete && !this.snapshotPending;
  }

  /** Called when the connection is lost, and when it is restored. */
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
        const { columns, isComplete: complete } = this.rows;
        const newest =
          m.type === "row-events" && this.rows instanceof Rows && this.listener.rowChanged !== undefined
            ? latestChange(m.events, this.rows)
            : null;
        if (!(this.rows instanceof Rows) || !this.rows.apply(m))
          return this.requestSnapshot("a received change does not match the loaded rows");
        this.columnsReplaced ||= columns !== this.rows.columns;
        this.problem = null;
        // If the list has more rows than the limit, load only the rows near the viewport. A list that is already loaded
        // can exceed the limit by 20 %, or by 100 % while the mouse pointer freezes the order of its rows.
        if (
          m.type === "rows"
            ? (m.last ? this.rows.total : this.rows.arriving) > this.limit
            : this.rows.total > (this.rows.isFrozen ? 2 : 1.2) * this.limit
        )
          return this.toWindow(complete);
        if (newest !== null) this.listener.rowChanged?.(newest);
        if (m.type === "row-events") this.events += m.events.length;
        if (m.type === "rows" && m.last) {
          this.checkGeneration++;
          this.snapshotPending = this.isReloading = false;
          this.listener.snapshotArrived(this.columnsReplaced);
          this.columnsReplaced = false;
          this.prepareFilter(this.rows, [...this.rows.all()], 0);
        }
        this.listener.rowsChanged();
        if (m.type === "row-events") return;
        break;
      }
      case "window":
      case "window-events": {
        const { columns } = this.rows;
        // Until the first message of a new window arrives, `this.rows` contains the rows of the previous list.
        const window = this.rows instanceof WindowRows ? this.rows : this.emptyRows();
        if (!(window instanceof WindowRows) || !window.apply(m))
          return this.requestSnapshot("a received change does not match the loaded part of the list");
        this.rows = window;
        this.problem = null;
        this.events += m.changes;
        if (m.newest !== null) this.listener.rowChanged?.(latestChangeFrom(m.newest, this.rows.columns));
        // If the chosen sort column did not exist before, but exists now, sort by it.
        if (this.unsorted && this.rows.columns.some((c) => c.name.toLowerCase() === this.order.sort?.column)) {
          this.unsorted = false;
          this.reorder();
        }
        if (m.type === "window" && (this.snapshotPending || columns !== this.rows.columns)) {
          this.snapshotPending = this.isReloading = false;
          this.listener.snapshotArrived(columns !== this.rows.columns);
        }
        this.listener.rowsChanged();
        break;
      }
      case "digest":
        return this.check(m);
      case "reset":
        // Ignore a reset if the page has no rows to replace, or still waits for the rows of an earlier reset.
        if (this.rows.total === 0 || this.isReloading) break;
        this.isReloading = true;
        this.live.reset(m.reason);
        this.listener.reset?.();
        break;
      case "state":
        this.state = m;
        if (m.total !== null && (this.query.ns ?? []).length === 0 && (this.query.labels ?? "") === "")
          this.expectedRows = m.total;
        // After a loss of permission or of the resource, the rows must not stay on the screen.
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
    this.listener.statusChanged();
  }

  // Compares a hash of the page's rows with the server's hash. The page computes its hash in short slices, from a copy
  // of the list with immutable entries. Changes of rows between two slices therefore do not affect the hash.
  private check(m: Extract<Message, { type: "digest" }>): void {
    if (!this.rows.isComplete || this.snapshotPending) return;
    const entries = [...this.rows.all()];
    if (entries.length !== m.count)
      return this.rejectRows(`this page had ${entries.length} rows, but the server has ${m.count}`);
    this.computeDigest(entries, 0, 0, m.digest, ++this.checkGeneration);
  }

  private computeDigest(
    entries: readonly Entry[],
    from: number,
    sum: number,
    expectedDigest: string,
    check: number,
  ): void {
    // Stop if the rows have been replaced, or if a newer check has started.
    if (check !== this.checkGeneration) return;
    const end = performance.now() + sliceDuration;
    do {
      const to = Math.min(entries.length, from + digestStep);
      sum = (sum + digest(entries, from, to)) | 0;
      from = to;
    } while (from < entries.length && performance.now() < end);
    if (from < entries.length)
      return this.schedule(() => this.computeDigest(entries, from, sum, expectedDigest, check));
    if (hex(sum) !== expectedDigest) this.rejectRows("the rows of this page differed from the rows of the server");
  }

  // Caches the search text of all rows in short time slices, so that the page stays responsive.
  private prepareFilter(rows: Rows, entries: readonly Entry[], from: number): void {
    if (rows !== this.rows) return;
    const end = performance.now() + sliceDuration;
    for (; from < entries.length && performance.now() < end; from++) rows.cacheSearchText(entries[from] as Entry);
    if (from < entries.length) this.schedule(() => this.prepareFilter(rows, entries, from));
  }

  private rejectRows(reason: string): void {
    this.drop();
    this.requestSnapshot(reason);
  }

  private requestSnapshot(reason: string): void {
    this.isReloading = true;
    this.subscription.requestSnapshot(reason);
  }

  private drop(): void {
    this.checkGeneration++;
    this.rows = this.emptyRows();
    this.listener.rowsDiscarded();
  }

  private emptyRows(): RowSource {
    if (this.windowed) return new WindowRows((offset, around) => this.subscription.move(offset, around));
    const rows = new Rows();
    rows.setSort(this.order.sort);
    rows.setFilter(this.order.q);
    return rows;
  }
}
