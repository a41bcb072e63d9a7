// What one subscription of rows has told: the rows, and how well they are
// known. It draws nothing; whoever does is told what to look at again.

import { digest, hex } from "./digest.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import { Rows, type Entry } from "./rows.ts";
import type { Sort } from "./sort.ts";
import type { Known } from "./status.ts";
import type { Message, Problem, RowEvent, Spec, State } from "./wire.ts";

export interface Watcher {
  /** A whole snapshot has come; columns: its columns are others than before. */
  arrived(columns: boolean): void;
  /** Rows have changed. */
  moved(): void;
  /** What was held is gone: it may not be seen, is no more, or was wrong. */
  dropped(): void;
  /** Events are about to be applied to rows. */
  coming?(events: readonly RowEvent[], rows: Rows): void;
  /** What is known, in words, may be another. */
  told(): void;
}

// How long a digest is counted at a time: a frame has 16 ms.
const slice = 8;
const step = 5000;

export class Feed implements Handler {
  rows: Rows;
  private state: State | null = null;
  private problem: Problem | null = null;
  private behind = false; // the rows held are about to be replaced by a snapshot
  private anew = false; // because they, or what came, did not fit
  private checks = 0;
  private readonly subscription: Subscription;

  constructor(
    private readonly live: Live,
    spec: Spec,
    private readonly order: { sort: Sort | null; q: string },
    private readonly watcher: Watcher,
    private readonly later: (run: () => void) => void = (run) => void setTimeout(run),
  ) {
    this.rows = this.none();
    this.subscription = live.subscribe(spec, this);
  }

  close(): void {
    this.checks++;
    this.subscription.close();
  }

  setSort(sort: Sort | null): void {
    this.order.sort = sort;
    this.rows.setSort(sort);
  }

  setFilter(q: string): void {
    this.order.q = q;
    this.rows.setFilter(q);
  }

  known(): Known {
    const { connection, since, said } = this.live;
    return { connection, since, said, state: this.state, complete: this.rows.complete && !this.behind, arriving: this.rows.arriving, problem: this.problem, anew: this.anew };
  }

  restart(): void {
    this.checks++;
    this.rows.restart();
    this.behind = true;
    this.watcher.told();
  }

  /** The connection is another: over a new one the state is told anew. */
  reconnected(): void {
    if (this.live.connection !== "open") this.state = null;
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    switch (m.type) {
      case "rows":
      case "row-events": {
        const columns = this.rows.columns;
        if (m.type === "row-events") this.watcher.coming?.(m.events, this.rows);
        if (!this.rows.apply(m)) return this.again("an event does not fit the rows held");
        this.problem = null;
        if (m.type === "rows" && m.last) {
          this.checks++;
          this.behind = this.anew = false;
          this.watcher.arrived(columns !== this.rows.columns);
        }
        this.watcher.moved();
        if (m.type === "row-events") return;
        break;
      }
      case "digest":
        return this.check(m);
      case "state":
        this.state = m;
        // A right that was lost takes with it what was seen; so does a kind that went.
        if (m.state === "forbidden" || m.state === "absent") this.drop();
        break;
      case "error":
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
    if (this.rows.total !== m.count) return this.wrong(`${this.rows.total} rows are held where there are ${m.count}`);
    this.count([...this.rows.all()], 0, 0, m.digest, ++this.checks);
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

  private none(): Rows {
    const rows = new Rows();
    rows.setSort(this.order.sort);
    rows.setFilter(this.order.q);
    return rows;
  }
}
