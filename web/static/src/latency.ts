// How long an answer of the server takes: asked seldom, and told only while it
// is known.

import { clockTime } from "./age.ts";
import type { Live } from "./live.ts";

const every = 10_000;
const soon = 1000; // after the connection opened: first come the rows

/** What it needs of the browser. clock is in milliseconds, and finer. */
export interface Host {
  clock(): number;
  now(): number;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  /** Nobody looks: nothing is to be asked. */
  hidden(): boolean;
}

export class Latency {
  /** Of the newest answer; null where there is none, or none since it was asked for last. */
  ms: number | null = null;
  /** When that came. */
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

  /** The connection is another: what was measured was of the one before. */
  reconnected(): void {
    this.host.cancel(this.timer);
    this.sent = null;
    this.tell(null);
    if (this.live.connection === "open") this.timer = this.host.after(soon, () => this.ask());
  }

  private ask(): void {
    this.timer = this.host.after(every, () => this.ask());
    if (this.sent !== null) this.tell(null); // The one before is not answered yet.
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

/** The number, and what it is. */
export function latencyWords(ms: number, at: number, now: number): { text: string; title: string } {
  const text = ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`;
  return { text, title: `${text} from this page to Glasshouse and back, measured over its connection at ${clockTime(new Date(at).toISOString(), now)}. What the API server takes is not in it.` };
}
