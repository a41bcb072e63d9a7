import type { LiveHost } from "../static/src/net/live.ts";

// A fake browser whose clock the test advances.
export class Browser implements LiveHost {
  time = 0;
  sockets: Socket[] = [];
  reports: string[] = [];
  reconnects: (() => void)[] = []; // callbacks of the page; a callback reconnects, as if the login were still valid
  private timers = new Map<number, { at: number; run: () => void }>();
  private next = 1;

  open(): WebSocket {
    const s = new Socket();
    this.sockets.push(s);
    return s as unknown as WebSocket;
  }
  now(): number {
    return this.time;
  }
  random(): number {
    return 1;
  }
  after(ms: number, run: () => void): unknown {
    this.timers.set(this.next, { at: this.time + ms, run });
    return this.next++;
  }
  cancel(timer: unknown): void {
    this.timers.delete(timer as number);
  }
  report(what: string): void {
    this.reports.push(what);
  }
  accessEnded(again: () => void): void {
    this.reconnects.push(again);
  }
  clusterSwitches = 0;
  clusterSwitched(): void {
    this.clusterSwitches++;
  }

  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const due = [...this.timers].filter(([, t]) => t.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (due === undefined) break;
      this.timers.delete(due[0]);
      this.time = Math.max(this.time, due[1].at);
      due[1].run();
    }
    this.time = end;
  }
  get socket(): Socket {
    return this.sockets[this.sockets.length - 1] as Socket;
  }
}

export class Socket {
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((e: { data: string }) => void) | null = null;
  onclose: ((e: { code: number; reason: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close(): void {
    this.readyState = 3;
  }
  accept(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  receive(m: unknown): void {
    this.onmessage?.({ data: typeof m === "string" ? m : JSON.stringify(m) });
  }
  drop(code = 1006, reason = ""): void {
    this.readyState = 3;
    this.onclose?.({ code, reason });
  }
  get last(): Record<string, unknown> {
    return this.sent[this.sent.length - 1] ?? {};
  }
}
