// The resources that the cluster serves, live. The socket sends changes at once. If it cannot (no connection, or an
// older server without this view), the page polls /api/v1/resources.

import { under } from "./base.ts";
import { readBuild, readKinds, readProblems, type Listed } from "./kinds.ts";
import type { Handler, Live } from "./live.ts";

const every = 10_000;
const turned = 2000; // ms by which the browser's clock may drift

export interface KindWatcher {
  /** Takes all resources, and the API groups that could not be read. */
  listed(kinds: readonly Listed[], problems: ReadonlyMap<string, string>): void;
  /** Takes the counts, by ref, of all resources that have one. */
  counted(counts: ReadonlyMap<string, number>): void;
}

export class KindFeed implements Handler {
  /** Whether the last request was answered; null before the first. */
  reached: boolean | null = null;
  private fed = false; // the socket sends the resources, and is newer than any response
  private counts = false; // the socket sends the counts, too
  private etag = "";
  private apart = 0; // ms, the difference between the browser's clock and a monotonic clock at the last Date header

  constructor(
    private readonly watcher: KindWatcher,
    private readonly onDate: (header: string | null) => void,
    private readonly onBuild: (build: string) => void,
    private readonly onStranger: () => void = () => undefined, // called when the user is not logged in any more
  ) {}

  start(live: Live): void {
    live.subscribe({ resource: "", view: "resources" }, this);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "resources") {
      this.fed = true;
      this.etag = ""; // the page does not show the content of that response any more
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

  /** Takes the body of a response of /api/v1/resources. */
  answer(body: unknown): void {
    const kinds = readKinds(body);
    if (!this.fed) {
      this.onBuild(readBuild(body));
      this.watcher.listed(kinds, readProblems(body));
    }
    if (!this.counts) this.watcher.counted(new Map(kinds.flatMap((k) => (k.count === null ? [] : [[k.ref, k.count]]))));
  }

  /**
   * Sends a request now, which also returns the server's time. Later rounds send one only while the socket does not
   * send the data, or if the browser's clock has changed.
   */
  async poll(first = true): Promise<void> {
    if (first || (!document.hidden && (!(this.fed && this.counts) || Math.abs(apart() - this.apart) > turned))) {
      try {
        await this.fetch();
        this.reached = true;
      } catch {
        this.reached = false;
        // The socket reports a lost connection; the next round tries again.
      }
    }
    setTimeout(() => void this.poll(false), every);
  }

  private async fetch(): Promise<void> {
    const answer = await fetch(under("/api/v1/resources"), {
      cache: "no-store",
      headers: { accept: "application/json", ...(this.etag === "" ? {} : { "if-none-match": this.etag }) },
      signal: AbortSignal.timeout(every),
    });
    this.onDate(answer.headers.get("date"));
    this.apart = apart();
    if (answer.status === 401) return this.onStranger();
    if (answer.status !== 200) return;
    const body: unknown = await answer.json();
    this.etag = answer.headers.get("etag") ?? "";
    this.answer(body);
  }
}

// The difference changes if a user sets the clock, or if the machine has slept.
const apart = (): number => Date.now() - performance.now();
