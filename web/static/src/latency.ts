// Measures the round-trip time to the server. It is measured rarely, and shown only while it is known.

import { clockTime } from "./age.ts";
import type { Live } from "./live.ts";

const every = 10_000;
const soon = 1000; // ms after the connection opens, because the rows load first

/** What Latency needs from the browser. clock returns ms, with fractions. */
export interface Host {
  clock(): number;
  now(): number;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  /** Whether the page is hidden; then nothing is measured. */
  hidden(): boolean;
}

export class Latency {
  /** ms, the newest measurement; null if there is none, or if the last ping is unanswered. */
  ms: number | null = null;
  /** When it was measured. */
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

  /** Reports that the state of the connection has changed. The measurement was of the previous connection. */
  reconnected(): void {
    this.host.cancel(this.timer);
    this.sent = null;
    this.tell(null);
    if (this.live.connection === "open") this.timer = this.host.after(soon, () => this.ask());
  }

  private ask(): void {
    this.timer = this.host.after(every, () => this.ask());
    // The previous ping is not answered yet.
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

/** Returns the number, and its description. */
export function latencyWords(ms: number, at: number, now: number): { text: string; title: string } {
  const text = ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`;
  return {
    text,
    title: `${text} from this page to Glasshouse and back, measured over its connection at ${
      clockTime(new Date(at).toISOString(), now)
    }. What the API server takes is not in it.`,
  };
}
