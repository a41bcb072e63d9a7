// What the cluster serves, as it changes. The socket tells it within moments;
// where it cannot be had there (no connection, or a server that does not know
// the view), /api/v1/resources is asked every now and then.

import { under } from "./base.ts";
import { readBuild, readKinds, readProblems, type Listed } from "./kinds.ts";
import type { Handler, Live } from "./live.ts";

const every = 10_000;
const turned = 2000; // ms by which the browser's clock may go its own way

export interface KindWatcher {
  /** These are all kinds there are, and the API groups that could not be read. */
  listed(kinds: readonly Listed[], problems: ReadonlyMap<string, string>): void;
  /** These are the counts, by ref, of all kinds that have one. */
  counted(counts: ReadonlyMap<string, number>): void;
}

export class KindFeed implements Handler {
  /** Whether what was asked for last was answered; null before. */
  reached: boolean | null = null;
  private fed = false; // by the socket, which is newer than any answer
  private counts = false; // also by the socket
  private etag = "";
  private apart = 0; // the browser's clock from one that nobody sets, as the server's time was told last

  constructor(
    private readonly watcher: KindWatcher,
    private readonly onDate: (header: string | null) => void,
    private readonly onBuild: (build: string) => void,
    private readonly onStranger: () => void = () => undefined, // who looks is not logged in any more
  ) {}

  start(live: Live): void {
    live.subscribe({ resource: "", view: "resources" }, this);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "resources") {
      this.fed = true;
      this.etag = ""; // What is drawn is no longer what that answer said.
      this.onBuild(m.build);
      this.watcher.listed(m.kinds, m.problems);
    } else if (m.type === "counts") {
      this.counts = true;
      this.watcher.counted(m.counts);
    } else if (m.type === "error") {
      this.fed = this.counts = false;
    }
  }

  restart(): void {
    this.fed = this.counts = false;
  }

  /** Takes the body of an answer of /api/v1/resources. */
  answer(body: unknown): void {
    const kinds = readKinds(body);
    if (!this.fed) {
      this.onBuild(readBuild(body));
      this.watcher.listed(kinds, readProblems(body));
    }
    if (!this.counts) this.watcher.counted(new Map(kinds.flatMap((k) => (k.count === null ? [] : [[k.ref, k.count]]))));
  }

  /** Asks now, for the server's time as well, and from then on while the socket does not tell, or once the browser's clock is another. */
  async poll(first = true): Promise<void> {
    if (first || (!document.hidden && (!(this.fed && this.counts) || Math.abs(apart() - this.apart) > turned))) {
      try {
        await this.fetch();
        this.reached = true;
      } catch {
        this.reached = false;
        // The socket tells that the server is away; the next round tries again.
      }
    }
    setTimeout(() => void this.poll(false), every);
  }

  private async fetch(): Promise<void> {
    const answer = await fetch(under("/api/v1/resources"), { cache: "no-store", headers: { accept: "application/json", ...(this.etag === "" ? {} : { "if-none-match": this.etag }) }, signal: AbortSignal.timeout(every) });
    this.onDate(answer.headers.get("date"));
    this.apart = apart();
    if (answer.status === 401) return this.onStranger();
    if (answer.status !== 200) return;
    const body: unknown = await answer.json();
    this.etag = answer.headers.get("etag") ?? "";
    this.answer(body);
  }
}

// It is another once somebody has set the clock, or the machine has slept.
const apart = (): number => Date.now() - performance.now();
