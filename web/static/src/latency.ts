// Measures the round-trip time to the server by pings over the WebSocket, at long intervals.

import { clockTime } from "./age.ts";
import type { Live } from "./live.ts";

const every = 10_000;
const soon = 1000; // ms from the opening of the connection to the first ping, so that the rows load first

/** The functions of the browser that Latency calls. clock returns ms, with fractions. */
export interface Host {
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
  private id = 0;
  private sent: number | null = null;
  private timer: unknown = null;

  constructor(
    private readonly live: Pick<Live, "connection" | "ping" | "onPong">,
    private readonly host: Host,
    private readonly told: () => void,
  ) {
    live.onPong = (id) => this.pong(id);
  }

  /** Called when the state of the connection has changed. Discards the measurement of the previous connection. */
  reconnected(): void {
    this.host.cancel(this.timer);
    this.sent = null;
    this.tell(null);
    if (this.live.connection === "open") this.timer = this.host.after(soon, () => this.ask());
  }

  private ask(): void {
    this.timer = this.host.after(every, () => this.ask());
    // If the previous ping has not been answered yet, the round-trip time is not known any more.
    if (this.sent !== null) this.tell(null);
    if (this.sent !== null || this.host.hidden()) return;
    this.sent = this.host.clock();
    this.live.ping(++this.id);
  }

  private pong(id: number): void {
    if (id !== this.id || this.sent === null) return;
    const took = this.host.clock() - this.sent;
    this.sent = null;
    this.at = this.host.now();
    this.tell(took);
  }

  private tell(ms: number | null): void {
    if (ms === this.ms) return;
    this.ms = ms;
    this.told();
  }
}

/** Formats a round-trip time of ms, measured at at. title: the tooltip. */
export function latencyWords(ms: number, at: number, now: number): { text: string; title: string } {
  const text = ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`;
  return {
    text,
    title: `Browser ↔ Glasshouse: ${text}, measured at ${
      clockTime(new Date(at).toISOString(), now)
    } (not API server latency)`,
  };
}
