// Follows the list of resources that the cluster serves. The server sends changes over the WebSocket. If the
// WebSocket is not connected, or the server is too old to send them, the page polls /api/v1/resources.

import { withBase } from "../net/base-path.ts";
import { readBuild, readKinds, readProblems, type ListedKind } from "../net/kinds.ts";
import type { Handler, Live } from "../net/live.ts";

const pollInterval = 10_000;
const maxClockJump = 2000; // ms; after a larger jump of the browser's clock, the page requests the server's time

export interface KindListener {
  /** Is called with all resources. problems contains the API groups that could not be read, with the reasons. */
  kindsListed(kinds: readonly ListedKind[], problems: ReadonlyMap<string, string>): void;
  /**
   * Is called with the number of objects by resource ref. Resources that the server does not watch are not included.
   */
  kindsCounted(counts: ReadonlyMap<string, number>): void;
}

export class KindFeed implements Handler {
  /** Whether the server answered the last HTTP request. null before the first request. */
  isReachable: boolean | null = null;
  // whether the WebSocket sends the resources; they are then newer than those of any HTTP response
  private socketSendsKinds = false;
  private socketSendsCounts = false; // whether the WebSocket also sends the numbers of objects
  private etag = "";
  // The result of clockOffsetNow in ms when the server last sent its time. If the result differs later, the browser's
  // clock has jumped.
  private clockOffset = 0;

  constructor(
    private readonly listener: KindListener,
    private readonly onDate: (header: string | null) => void,
    private readonly onBuild: (build: string) => void,
    private readonly onLoggedOut: () => void = () => undefined, // called when the user is no longer logged in
  ) {}

  start(live: Live): void {
    live.subscribe({ resource: "", view: "resources" }, this);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "resources") {
      this.socketSendsKinds = true;
      this.etag = ""; // request a complete response next time, because the page now shows other data
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
   * Sends an HTTP request now, and then checks again every 10 s. Later requests are sent only if the WebSocket does
   * not send the data, or if the browser's clock has jumped. The response also contains the server's time.
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
        // Ignore the error. The WebSocket reports a lost connection, and the next poll retries.
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

// Returns the difference in ms between the browser's clock and a monotonic clock. It changes if a user sets the
// clock, or if the machine has slept.
const clockOffsetNow = (): number => Date.now() - performance.now();
