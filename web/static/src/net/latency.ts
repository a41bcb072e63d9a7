// Measures the round-trip time to the server. It sends a ping over the WebSocket every 10 s.

import type { Live } from "./live.ts";

const pingInterval = 10_000;
const firstPingDelay = 1000; // ms between the opening of the connection and the first ping, so that rows load first

/**
 * The browser functions that Latency calls. The function `clock` returns a monotonic time in ms, with fractions. Tests
 * replace these functions.
 */
interface LatencyHost {
  clock(): number;
  now(): number;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  /** Reports whether the page is hidden. A hidden page sends no pings. */
  hidden(): boolean;
}

export class Latency {
  /** The last measurement in ms. null if there is none, or if the last ping was not answered in time. */
  ms: number | null = null;
  /** The time of the last measurement, in ms since 1970. */
  at = 0;
  private lastPingId = 0;
  private sentAt: number | null = null;
  private timer: unknown = null;

  constructor(
    private readonly live: Pick<Live, "connection" | "ping" | "onPong">,
    private readonly host: LatencyHost,
  ) {
    live.onPong = (id) => this.pong(id);
  }

  /**
   * Called when the connection is lost, and when it is restored. Discards the previous measurement, and starts again.
   */
  reconnected(): void {
    this.host.cancel(this.timer);
    this.sentAt = null;
    this.ms = null;
    if (this.live.connection === "open") this.timer = this.host.after(firstPingDelay, () => this.sendPing());
  }

  private sendPing(): void {
    this.timer = this.host.after(pingInterval, () => this.sendPing());
    // If the previous ping has not been answered, the round-trip time is unknown.
    if (this.sentAt !== null) this.ms = null;
    if (this.sentAt !== null || this.host.hidden()) return;
    this.sentAt = this.host.clock();
    this.live.ping(++this.lastPingId);
  }

  private pong(id: number): void {
    if (id !== this.lastPingId || this.sentAt === null) return;
    this.ms = this.host.clock() - this.sentAt;
    this.sentAt = null;
    this.at = this.host.now();
  }
}
