// Follows the list of resources that the cluster serves. The server sends changes over the WebSocket. Without that (no
// connection, or an older server without the view "resources"), the page polls /api/v1/resources.

import { under } from "./base.ts";
import { readBuild, readKinds, readProblems, type Listed } from "./kinds.ts";
import type { Handler, Live } from "./live.ts";

const every = 10_000;
const turned = 2000; // ms; if the browser's clock jumps by more, the page requests the server's time again

export interface KindWatcher {
  /** Called with all resources, and with the API groups that could not be read and the reasons. */
  listed(kinds: readonly Listed[], problems: ReadonlyMap<string, string>): void;
  /** Called with the number of objects of each resource that has one, by ref. */
  counted(counts: ReadonlyMap<string, number>): void;
}

export class KindFeed implements Handler {
  /** Whether the last request was answered; null before the first. */
  reached: boolean | null = null;
  private fed = false; // whether the socket sends the resources, which are newer than those of any HTTP response
  private counts = false; // whether the socket sends the counts of objects, too
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
      this.etag = ""; // the next response must be complete, because the page now shows the data of the socket
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

  /** Processes the body of a response of /api/v1/resources. */
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
        // Ignore the error. The socket reports a lost connection, and the next poll tries again.
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

// The difference between the browser's clock and a monotonic clock, in ms. It changes if a user sets the clock, or if
// the machine has slept.
const apart = (): number => Date.now() - performance.now();
