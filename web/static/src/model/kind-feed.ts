// Follows the resource types that the cluster serves: over the WebSocket, or else by polling /api/v1/resources.

import { withBase } from "../net/base-path.ts";
import { readBuild, readKinds, readProblems, type ListedKind, type ProblemCounts } from "../net/kinds.ts";
import type { Handler, Live, Subscription } from "../net/live.ts";

const pollInterval = 10_000;
const maxClockJump = 2000; // ms; a larger jump of the browser's clock causes a request for the server's time

export interface KindListener {
  /**
   * Is called after the list of resources has arrived. The parameter `problems` maps each API group that could not be
   * read to the reason. The parameter `versions` contains the resources in API versions that are not preferred.
   */
  kindsListed(
    kinds: readonly ListedKind[],
    problems: ReadonlyMap<string, string>,
    versions: readonly ListedKind[],
  ): void;
  /**
   * Is called after the counts have arrived. The parameters map the refs of watched resources to the numbers of objects
   * and of problems. null means that the numbers of problems are unknown.
   */
  kindsCounted(counts: ReadonlyMap<string, number>, problems: ReadonlyMap<string, ProblemCounts> | null): void;
}

export class KindFeed implements Handler {
  /** Whether the server responded to the latest HTTP request; null before the first response. */
  isReachable: boolean | null = null;
  // Whether the WebSocket sends the resources. If so, ignore those in HTTP responses, because they can be older.
  private socketSendsKinds = false;
  private socketSendsCounts = false;
  private etag = "";
  private live: Live | null = null;
  private subscription: Subscription | null = null;
  // The namespaces whose objects the server counts; empty for all.
  private ns: readonly string[] = [];
  // The value of clockOffsetNow() when the server last sent its time.
  private clockOffset = 0;

  constructor(
    private readonly listener: KindListener,
    private readonly onDate: (header: string | null) => void,
    private readonly onBuild: (build: string) => void,
    private readonly onLoggedOut: () => void = () => undefined,
  ) {}

  start(live: Live): void {
    this.live = live;
    this.subscription = live.subscribe({ resource: "", ns: this.ns, view: "resources" }, this);
  }

  /** Sets the namespaces whose objects the server counts; empty for all. */
  setNamespaces(ns: readonly string[]): void {
    this.ns = ns;
    if (this.live === null) return;
    this.subscription?.close();
    this.etag = "";
    const isPolling = this.isReachable !== null && !this.socketSendsCounts;
    this.restart();
    this.start(this.live);
    if (isPolling) this.fetch().catch(() => undefined); // After an error, the next poll retries.
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "resources") {
      this.socketSendsKinds = true;
      this.etag = ""; // so that the next HTTP response is complete, not 304
      this.onBuild(m.build);
      this.listener.kindsListed(m.kinds, m.problems, m.versions);
    } else if (m.type === "counts") {
      this.socketSendsCounts = true;
      this.listener.kindsCounted(m.counts, m.problems);
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
      this.listener.kindsListed(kinds, readProblems(body), readKinds(body, false));
    }
    if (!this.socketSendsCounts)
      this.listener.kindsCounted(new Map(kinds.flatMap((k) => (k.count === null ? [] : [[k.ref, k.count]]))), null);
  }

  /**
   * Requests the resources now. After that, checks every 10 s whether the visible page needs another request. If the
   * WebSocket sends resources and counts, the page needs one only after a jump of the clock, to read the server's time.
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
        // Do not report the failed request: the WebSocket reports a lost connection, and the next poll retries.
      }
    }
    setTimeout(() => void this.poll(false), pollInterval);
  }

  private async fetch(): Promise<void> {
    const { ns } = this;
    const query = ns.length === 0 ? "" : `?ns=${encodeURIComponent(ns.join(","))}`;
    const response = await fetch(withBase(`/api/v1/resources${query}`), {
      cache: "no-store",
      headers: { accept: "application/json", ...(this.etag === "" ? {} : { "if-none-match": this.etag }) },
      signal: AbortSignal.timeout(pollInterval),
    });
    this.onDate(response.headers.get("date"));
    this.clockOffset = clockOffsetNow();
    if (response.status === 401) return this.onLoggedOut();
    if (response.status !== 200) return;
    const body: unknown = await response.json();
    if (ns !== this.ns) return; // The response has the counts of other namespaces.
    this.etag = response.headers.get("etag") ?? "";
    this.applyResponse(body);
  }
}

// Returns browser clock minus monotonic timer in ms, which changes if the clock is set or the machine sleeps.
const clockOffsetNow = (): number => Date.now() - performance.now();
