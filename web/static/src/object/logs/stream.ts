// Reads one log from the server, and resumes it after a lost connection.

import { LineReader, Overlap, type Line } from "./lines.ts";
import type { Handler, Live, Subscription } from "../../net/live.ts";
import type { LogSpec, Problem } from "../../net/wire.ts";

export interface LogRequest {
  readonly ns: string;
  readonly pod: string;
  readonly container: string;
  readonly tail: number;
  /** The start of the log: a duration before now, such as 10m. Empty for no limit. */
  readonly since: string;
  readonly previous: boolean;
  readonly follow: boolean;
}

export type LogState =
  /**
   * Requested, but no response has arrived yet. `isSlow` is true if this takes long. `since` is the time at which an
   * earlier response was interrupted, or null for a new log.
   */
  | { readonly at: "requesting"; readonly isSlow: boolean; readonly since: number | null }
  /** The API server has responded. Lines arrive as the container writes them. */
  | { readonly at: "reading" }
  /** If since is null, the log has ended. Otherwise, reading stopped at that time, and the log possibly continues. */
  | { readonly at: "ended"; readonly since: number | null }
  /** Reading failed at the time `since`. If `again` is true, the stream retries automatically. */
  | { readonly at: "refused"; readonly problem: Problem; readonly again: boolean; readonly since: number };

export interface Reader {
  lines(lines: readonly Line[], gap: boolean): void;
  stateChanged(state: LogState): void;
}

export class LogStream implements Handler {
  private readonly overlap = new Overlap();
  private lineReader = new LineReader();
  private hasResponded = false;
  private since: number | null = null; // time in ms at which the log was interrupted; null while it is not interrupted
  private subscription: Subscription | null = null;

  constructor(
    private request: LogRequest,
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

  /** Starts or stops following. When following starts, the log resumes after the newest received line. */
  follow(on: boolean): void {
    this.request = { ...this.request, follow: on };
    if (!on) return this.stop();
    this.close();
    this.run();
  }

  stop(): void {
    if (this.subscription === null) return;
    this.since ??= this.now();
    this.end(this.since);
  }

  retryNow(): void {
    this.live.retryNow();
    this.subscription?.retryNow();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "log" && m.waiting) {
      this.reportRequesting(true);
    } else if (m.type === "log") {
      if (!this.hasResponded) this.responseStarted();
      this.deliver(this.lineReader.push(m.text));
    } else if (m.type === "log-end") {
      this.deliver(this.lineReader.end());
      this.end(null);
    } else if (m.type === "error") {
      this.reportRefused(m.problem);
    }
  }

  /**
   * Called before Live requests the log again, after a lost connection or an invalid message. Discards the incomplete
   * line, and reports the state "requesting".
   */
  restart(): void {
    this.startResponse();
    this.since ??= this.now();
    this.reportRequesting();
  }

  private run(): void {
    const { ns, pod } = this.request;
    const spec = (): LogSpec => this.spec();
    this.startResponse();
    this.reportRequesting();
    this.subscription = this.live.subscribe(
      {
        resource: "core/v1/pods",
        ns: [ns],
        name: pod,
        view: "log",
        get log() {
          return spec();
        },
      },
      this,
    );
  }

  // Always request timestamps, because an interrupted log resumes after the time of its newest line.
  private spec(): LogSpec {
    const { container, tail, since, previous, follow } = this.request;
    const from = this.overlap.since;
    return {
      container,
      tail: from === "" ? tail : 5000,
      since: from === "" ? since : from,
      previous,
      timestamps: true,
      follow,
    };
  }

  // Prepares for a new response. An incomplete line is discarded, because the new response starts with a complete line.
  private startResponse(): void {
    this.hasResponded = false;
    this.lineReader = new LineReader();
    this.overlap.restart();
  }

  private responseStarted(): void {
    this.hasResponded = true;
    this.since = null;
    this.reader.stateChanged({ at: "reading" });
  }

  private deliver(lines: readonly Line[]): void {
    const fresh = this.overlap.newLines(lines);
    if (fresh.lines.length > 0) this.reader.lines(fresh.lines, fresh.gap);
  }

  // After a temporary problem (status 503), the class Live requests the log again automatically.
  private reportRefused(problem: Problem): void {
    const retries = problem.status === 503;
    this.startResponse();
    if (!retries) this.close();
    this.since ??= this.now();
    this.reader.stateChanged({ at: "refused", problem, again: retries, since: this.since });
  }

  private end(since: number | null): void {
    this.close();
    this.reader.stateChanged({ at: "ended", since });
  }

  private reportRequesting(late = false): void {
    const { connection, since } = this.live;
    if (connection === "lost") this.since ??= since;
    this.reader.stateChanged({ at: "requesting", isSlow: late, since: this.since });
  }
}
