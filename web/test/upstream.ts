import { Live } from "../static/src/live.ts";
import { Browser } from "./browser.ts";

/** A fake server for logs over a socket, controlled by the test. */
export class Upstream {
  readonly browser = new Browser();
  readonly live: Live = new Live("ws://x", this.browser, () => undefined);
  constructor() {
    this.live.connect();
    this.browser.socket.accept();
  }
  /** All log requests, over all connections. */
  get asked(): Record<string, unknown>[] {
    return this.browser.sockets.flatMap((s) => s.sent).filter((m) => m["op"] === "subscribe");
  }
  /** The number of unsubscribe messages. */
  get closed(): number {
    return this.browser.sockets.flatMap((s) => s.sent).filter((m) => m["op"] === "unsubscribe").length;
  }
  private say(message: object): void {
    this.browser.socket.say({ id: this.asked.at(-1)?.["id"], ...message });
  }
  wait(): void {
    this.say({ type: "log", text: "", waiting: true });
  }
  write(text: string): void {
    this.say({ type: "log", text });
  }
  end(): void {
    this.say({ type: "log-end" });
  }
  refuse(status: number, title: string, detail = "so"): void {
    this.say({ type: "error", problem: { title, status, detail } });
  }
  cut(): void {
    this.refuse(503, "Log is cut");
  }
}
