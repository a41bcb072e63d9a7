// One log as it is read: from the asking to its end, over any number of
// connections. It keeps no lines; whoever reads is told.

import { LineReader, Overlap, type Line } from "./lines.ts";
import type { Handler, Live, Subscription } from "../live.ts";
import type { LogSpec, Problem } from "../wire.ts";

/** What is asked for. */
export interface Ask {
  readonly ns: string;
  readonly pod: string;
  readonly container: string;
  readonly tail: number;
  /** As in 10m; empty for any time. */
  readonly since: string;
  readonly previous: boolean;
  readonly follow: boolean;
}

/** How it stands. */
export type LogState =
  /** Nothing has come yet, late: for a while. Since then nothing has, where it broke off. */
  | { readonly at: "asking"; readonly late: boolean; readonly since: number | null }
  /** Lines come, or may come. */
  | { readonly at: "reading" }
  /** Read to its end; or no more of it is read since then, though there may be more. */
  | { readonly at: "ended"; readonly since: number | null }
  /** It cannot be read, or broke off; again: it is tried again by itself. Since then nothing more has come. */
  | { readonly at: "refused"; readonly problem: Problem; readonly again: boolean; readonly since: number };

export interface Reader {
  lines(lines: readonly Line[], gap: boolean): void;
  told(state: LogState): void;
}

export class LogStream implements Handler {
  private readonly overlap = new Overlap();
  private rest = new LineReader();
  private begun = false; // the API server has answered since it was asked for
  private since: number | null = null; // when it broke off
  private subscription: Subscription | null = null;

  constructor(
    private ask: Ask,
    private readonly reader: Reader,
    private readonly live: Live,
    private readonly now: () => number,
  ) {
    this.run();
  }

  close(): void {
    this.subscription?.close();
    this.subscription = null;
  }

  /** Goes on from what was read last, or reads no more. */
  follow(on: boolean): void {
    this.ask = { ...this.ask, follow: on };
    if (!on) return this.stop();
    this.close();
    this.run();
  }

  /** Reads no more, where it is read or waited for. */
  stop(): void {
    if (this.subscription === null) return;
    this.since ??= this.now();
    this.end(this.since);
  }

  /** Tries again at once where it is waited for that. */
  hurry(): void {
    this.live.hurry();
    this.subscription?.hurry();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "log" && m.waiting) {
      this.asking(true);
    } else if (m.type === "log") {
      if (!this.begun) this.begin();
      this.tell(this.rest.push(m.text));
    } else if (m.type === "log-end") {
      this.tell(this.rest.end());
      this.end(null);
    } else if (m.type === "error") {
      this.refused(m.problem);
    }
  }

  /** The connection is lost, or what came made no sense: it is asked for again. */
  restart(): void {
    this.renew();
    this.since ??= this.now();
    this.asking();
  }

  private run(): void {
    const { ns, pod } = this.ask;
    const spec = (): LogSpec => this.spec();
    this.renew();
    this.asking();
    this.subscription = this.live.subscribe({ resource: "core/v1/pods", ns: [ns], name: pod, view: "log", get log() { return spec(); } }, this);
  }

  // Times are always asked for: by them a log that was cut goes on where it was.
  private spec(): LogSpec {
    const { container, tail, since, previous, follow } = this.ask;
    const from = this.overlap.since;
    return { container, tail: from === "" ? tail : 5000, since: from === "" ? since : from, previous, timestamps: true, follow };
  }

  // What comes next begins with a line.
  private renew(): void {
    this.begun = false;
    this.rest = new LineReader();
    this.overlap.again();
  }

  private begin(): void {
    this.begun = true;
    this.since = null;
    this.reader.told({ at: "reading" });
  }

  private tell(lines: readonly Line[]): void {
    const fresh = this.overlap.fresh(lines);
    if (fresh.lines.length > 0) this.reader.lines(fresh.lines, fresh.gap);
  }

  // Only what passes by itself is tried again by itself.
  private refused(problem: Problem): void {
    const again = problem.status === 503;
    this.renew();
    if (!again) this.close();
    this.since ??= this.now();
    this.reader.told({ at: "refused", problem, again, since: this.since });
  }

  private end(since: number | null): void {
    this.close();
    this.reader.told({ at: "ended", since });
  }

  private asking(late = false): void {
    const { connection, since } = this.live;
    if (connection === "lost") this.since ??= since;
    this.reader.told({ at: "asking", late, since: this.since });
  }
}
