import { Live } from "../static/src/net/live.ts";
import { Browser } from "./fake-browser.ts";

/** Sends logs over a fake WebSocket. */
export class Upstream {
  readonly browser = new Browser();
  readonly live: Live = new Live("ws://x", this.browser, () => undefined);
  constructor() {
    this.live.connect();
    this.browser.socket.accept();
  }
  /** All requests for logs, over all connections. */
  get requests(): Record<string, unknown>[] {
    return this.browser.sockets.flatMap((s) => s.sent).filter((m) => m["op"] === "subscribe");
  }
  get unsubscribes(): number {
    return this.browser.sockets.flatMap((s) => s.sent).filter((m) => m["op"] === "unsubscribe").length;
  }
  private send(message: object): void {
    this.browser.socket.receive({ id: this.requests.at(-1)?.["id"], ...message });
  }
  wait(): void {
    this.send({ type: "log", text: "", waiting: true });
  }
  write(text: string): void {
    this.send({ type: "log", text });
  }
  end(): void {
    this.send({ type: "log-end" });
  }
  refuse(status: number, title: string, detail = "so"): void {
    this.send({ type: "error", problem: { title, status, detail } });
  }
  interrupt(): void {
    this.refuse(503, "Log is cut");
  }
}
