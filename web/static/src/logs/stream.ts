// One log as it is read: from the asking to its end, over any number of
// connections. It keeps no lines; whoever reads is told.

import { LineReader, Overlap, type Line } from "./lines.ts";
import { problemOf } from "../problem.ts";
import type { Problem } from "../wire.ts";

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
  | { readonly at: "asking" }
  /** Lines come, or may come. */
  | { readonly at: "reading" }
  | { readonly at: "ended" }
  /** It cannot be read; next is when it is tried again by itself, null where it is not. */
  | { readonly at: "refused"; readonly problem: Problem; readonly next: number | null }
  | { readonly at: "lost"; readonly since: number; readonly next: number };

export interface Reader {
  lines(lines: readonly Line[], gap: boolean): void;
  told(state: LogState): void;
}

/** What a stream needs of the browser. */
export interface World {
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => unknown;
  readonly cancel: (timer: unknown) => void;
}

const first = 1000; // milliseconds until the first try after a loss; each next one waits twice as long
const longest = 15_000;

export class LogStream {
  private readonly overlap = new Overlap();
  private abort = new AbortController();
  private timer: unknown;
  private tries = 0;
  private lost: number | null = null;

  constructor(
    private ask: Ask,
    private readonly reader: Reader,
    private readonly world: World,
  ) {
    void this.run();
  }

  close(): void {
    this.world.cancel(this.timer);
    this.timer = undefined;
    this.abort.abort();
  }

  /** Goes on from what was read last, or reads no more. */
  follow(on: boolean): void {
    this.close();
    this.ask = { ...this.ask, follow: on };
    if (on) void this.run();
    else this.reader.told({ at: "ended" });
  }

  /** Tries again at once where it is waited for that. */
  hurry(): void {
    if (this.timer === undefined) return;
    this.world.cancel(this.timer);
    void this.run();
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    const abort = (this.abort = new AbortController());
    if (this.lost === null) this.reader.told({ at: "asking" });
    try {
      const answer = await this.world.fetch(addressOf(this.ask, this.overlap.since), { cache: "no-store", headers: { accept: "text/plain, application/problem+json" }, signal: abort.signal });
      if (!answer.ok || answer.body === null) {
        const problem = await problemOf(answer);
        if (!abort.signal.aborted) this.refused(problem);
        return;
      }
      this.overlap.again();
      await this.read(answer.body.getReader(), abort.signal);
    } catch {
      if (!abort.signal.aborted) this.again();
    }
  }

  private async read(body: ReadableStreamDefaultReader<Uint8Array>, stop: AbortSignal): Promise<void> {
    const lines = new LineReader();
    if (!stop.aborted) this.reading();
    for (;;) {
      const { done, value } = await body.read();
      if (stop.aborted) return;
      this.tell(done ? lines.end() : lines.push(value));
      if (done) return this.reader.told({ at: "ended" });
      this.tries = 0;
    }
  }

  private reading(): void {
    this.lost = null;
    this.reader.told({ at: "reading" });
  }

  private tell(lines: readonly Line[]): void {
    const fresh = this.overlap.fresh(lines);
    if (fresh.lines.length > 0) this.reader.lines(fresh.lines, fresh.gap);
  }

  private refused(problem: Problem): void {
    // Only what passes by itself is tried again by itself.
    const next = problem.status === 503 ? this.later() : null;
    this.lost = null;
    this.reader.told({ at: "refused", problem, next });
  }

  private again(): void {
    const now = this.world.now();
    this.lost ??= now;
    this.reader.told({ at: "lost", since: this.lost, next: this.later() });
  }

  private later(): number {
    const ms = Math.min(longest, first * 2 ** this.tries++);
    this.timer = this.world.after(ms, () => void this.run());
    return this.world.now() + ms;
  }
}

// Times are always asked for: by them a log that was cut goes on where it was.
function addressOf(ask: Ask, since: string): string {
  const query = new URLSearchParams({ container: ask.container, tail: String(since === "" ? ask.tail : 5000), timestamps: "true" });
  if (since !== "") query.set("since", since);
  else if (ask.since !== "") query.set("since", ask.since);
  if (ask.follow) query.set("follow", "true");
  if (ask.previous) query.set("previous", "true");
  return `/api/v1/logs/${encodeURIComponent(ask.ns)}/${encodeURIComponent(ask.pod)}?${query.toString()}`;
}
