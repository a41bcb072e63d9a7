// Measures the round-trip time to the server by pings over the WebSocket, at long intervals.

import { clockTime } from "../text/age.ts";
import type { Live } from "./live.ts";

const pingInterval = 10_000;
const firstPingDelay = 1000; // ms from the opening of the connection to the first ping, so that the rows load first

/** The functions of the browser that Latency calls. clock returns ms, with fractions. */
export interface LatencyHost {
  clock(): number;
  now(): number;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  /** Whether the page is hidden. A hidden page measures nothing. */
  hidden(): boolean;
}

export class Latency {
  /** ms, the newest measurement; null if there is none, or if the last ping is unanswered. */
  ms: number | null = null;
  /** When ms was measured. */
  at = 0;
  private lastPingId = 0;
  private sentAt: number | null = null;
  private timer: unknown = null;

  constructor(
    private readonly live: Pick<Live, "connection" | "ping" | "onPong">,
    private readonly host: LatencyHost,
    private readonly onChange: () => void,
  ) {
    live.onPong = (id) => this.pong(id);
  }

  /** Called when the state of the connection has changed. Discards the measurement of the previous connection. */
  reconnected(): void {
    this.host.cancel(this.timer);
    this.sentAt = null;
    this.setLatency(null);
    if (this.live.connection === "open") this.timer = this.host.after(firstPingDelay, () => this.sendPing());
  }

  private sendPing(): void {
    this.timer = this.host.after(pingInterval, () => this.sendPing());
    // If the previous ping has not been answered yet, the round-trip time is not known any more.
    if (this.sentAt !== null) this.setLatency(null);
    if (this.sentAt !== null || this.host.hidden()) return;
    this.sentAt = this.host.clock();
    this.live.ping(++this.lastPingId);
  }

  private pong(id: number): void {
    if (id !== this.lastPingId || this.sentAt === null) return;
    const roundTrip = this.host.clock() - this.sentAt;
    this.sentAt = null;
    this.at = this.host.now();
    this.setLatency(roundTrip);
  }

  private setLatency(ms: number | null): void {
    if (ms === this.ms) return;
    this.ms = ms;
    this.onChange();
  }
}

/** Formats a round-trip time of ms, measured at at. title: the tooltip. */
export function latencyText(ms: number, at: number, now: number): { text: string; title: string } {
  const text = ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`;
  return {
    text,
    title: `Browser ↔ Glasshouse: ${text}, measured at ${
      clockTime(new Date(at).toISOString(), now)
    } (not API server latency)`,
  };
}
