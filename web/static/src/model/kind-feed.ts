// Follows the list of resources that the cluster serves. The server sends changes over the WebSocket. Without that (no
// connection, or an older server without the view "resources"), the page polls /api/v1/resources.

import { withBase } from "../net/base-path.ts";
import { readBuild, readKinds, readProblems, type ListedKind } from "../net/kinds.ts";
import type { Handler, Live } from "../net/live.ts";

const pollInterval = 10_000;
const maxClockJump = 2000; // ms; if the browser's clock jumps by more, the page requests the server's time again

export interface KindListener {
  /** Called with all resources, and with the API groups that could not be read and the reasons. */
  kindsListed(kinds: readonly ListedKind[], problems: ReadonlyMap<string, string>): void;
  /** Called with the number of objects of each resource that has one, by ref. */
  kindsCounted(counts: ReadonlyMap<string, number>): void;
}

export class KindFeed implements Handler {
  /** Whether the last request was answered; null before the first. */
  isReachable: boolean | null = null;
  // whether the socket sends the resources, which are newer than those of any HTTP response
  private socketSendsKinds = false;
  private socketSendsCounts = false; // whether the socket sends the counts of objects, too
  private etag = "";
  // The difference between the browser's clock and a monotonic clock at the last Date header, in milliseconds.
  private clockOffset = 0;

  constructor(
    private readonly listener: KindListener,
    private readonly onDate: (header: string | null) => void,
    private readonly onBuild: (build: string) => void,
    private readonly onLoggedOut: () => void = () => undefined, // called when the user is not logged in any more
  ) {}

  start(live: Live): void {
    live.subscribe({ resource: "", view: "resources" }, this);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "resources") {
      this.socketSendsKinds = true;
      this.etag = ""; // the next response must be complete, because the page now shows the data of the socket
      this.onBuild(m.build);
      this.listener.kindsListed(m.kinds, m.problems);
    } else if (m.type === "counts") {
      this.socketSendsCounts = true;
      this.listener.kindsCounted(m.counts);
    } else if (m.type === "error") {
      this.socketSendsKinds = this.socketSendsCounts = false;
    }
  }

  restart(): void {
    this.socketSendsKinds = this.socketSendsCounts = false;
  }

  /** Processes the body of a response of /api/v1/resources. */
  applyResponse(body: unknown): void {
    const kinds = readKinds(body);
    if (!this.socketSendsKinds) {
      this.onBuild(readBuild(body));
      this.listener.kindsListed(kinds, readProblems(body));
    }
    if (!this.socketSendsCounts)
      this.listener.kindsCounted(new Map(kinds.flatMap((k) => (k.count === null ? [] : [[k.ref, k.count]]))));
  }

  /**
   * Sends a request now, which also returns the server's time. Later rounds send one only while the socket does not
   * send the data, or if the browser's clock has changed.
   */
  async poll(first = true): Promise<void> {
    if (
      first ||
      (!document.hidden &&
        (!(this.socketSendsKinds && this.socketSendsCounts) ||
          Math.abs(clockOffsetNow() - this.clockOffset) > maxClockJump))
    ) {
      try {
        await this.fetch();
        this.isReachable = true;
      } catch {
        this.isReachable = false;
        // Ignore the error. The socket reports a lost connection, and the next poll tries again.
      }
    }
    setTimeout(() => void this.poll(false), pollInterval);
  }

  private async fetch(): Promise<void> {
    const response = await fetch(withBase("/api/v1/resources"), {
      cache: "no-store",
      headers: { accept: "application/json", ...(this.etag === "" ? {} : { "if-none-match": this.etag }) },
      signal: AbortSignal.timeout(pollInterval),
    });
    this.onDate(response.headers.get("date"));
    this.clockOffset = clockOffsetNow();
    if (response.status === 401) return this.onLoggedOut();
    if (response.status !== 200) return;
    const body: unknown = await response.json();
    this.etag = response.headers.get("etag") ?? "";
    this.applyResponse(body);
  }
}

// The difference between the browser's clock and a monotonic clock, in ms. It changes if a user sets the clock, or if
// the machine has slept.
const clockOffsetNow = (): number => Date.now() - performance.now();
