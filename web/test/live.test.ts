import assert from "node:assert/strict";
import { test } from "node:test";
import { Live, type Connection, type Host } from "../static/src/live.ts";
import type { Message } from "../static/src/wire.ts";

// A browser whose time passes when told to.
class Browser implements Host {
  time = 0;
  sockets: Socket[] = [];
  reports: string[] = [];
  private timers = new Map<number, { at: number; run: () => void }>();
  private next = 1;

  open(): WebSocket {
    const s = new Socket();
    this.sockets.push(s);
    return s as unknown as WebSocket;
  }
  now(): number { return this.time; }
  random(): number { return 1; }
  after(ms: number, run: () => void): unknown {
    this.timers.set(this.next, { at: this.time + ms, run });
    return this.next++;
  }
  cancel(timer: unknown): void { this.timers.delete(timer as number); }
  report(what: string): void { this.reports.push(what); }

  pass(ms: number): void {
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
  get socket(): Socket { return this.sockets[this.sockets.length - 1] as Socket; }
}

class Socket {
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((e: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;
  send(text: string): void { this.sent.push(JSON.parse(text) as Record<string, unknown>); }
  close(): void { this.readyState = 3; }
  accept(): void { this.readyState = 1; this.onopen?.(); }
  say(m: unknown): void { this.onmessage?.({ data: typeof m === "string" ? m : JSON.stringify(m) }); }
  lose(): void { this.readyState = 3; this.onclose?.(); }
  get last(): Record<string, unknown> { return this.sent[this.sent.length - 1] ?? {}; }
}

function start() {
  const browser = new Browser();
  const connections: Connection[] = [];
  const got: Message["type"][] = [];
  let restarts = 0;
  const live: Live = new Live("ws://x", browser, () => connections.push(live.connection));
  const sub = live.subscribe({ resource: "core/v1/pods", ns: ["big"], labels: "", view: "rows" }, { message: (m) => got.push(m.type), restart: () => restarts++ });
  live.connect();
  return { browser, live, sub, connections, got, restarts: () => restarts };
}
const snapshot = (id: unknown) => ({ id, type: "snapshot", cursor: "c1", columns: [], rows: [], last: true });

void test("subscribes once open, and goes on from the cursor after a loss", () => {
  const { browser, connections, got } = start();
  assert.deepEqual(browser.socket.sent, []);
  browser.socket.accept();
  assert.deepEqual(browser.socket.last, { op: "subscribe", id: browser.socket.last["id"], resource: "core/v1/pods", ns: ["big"], view: "rows" });
  const id = browser.socket.last["id"];
  browser.socket.say(snapshot(id));
  browser.socket.say({ id, type: "events", cursor: "c2", events: [] });
  assert.deepEqual(got, ["rows", "row-events"]);
  browser.socket.lose();
  assert.deepEqual(connections, ["open", "lost"]);
  browser.pass(600);
  browser.socket.accept();
  assert.equal(browser.socket.last["cursor"], "c2");
  assert.ok(browser.socket.last["id"] !== id, "another id, so that nothing old is taken for new");
});

void test("a snapshot that was cut off is asked for again as a whole", () => {
  const { browser, restarts } = start();
  browser.socket.accept();
  browser.socket.say({ ...snapshot(browser.socket.last["id"]), last: false });
  browser.socket.lose();
  assert.equal(restarts(), 1);
  browser.pass(600);
  browser.socket.accept();
  assert.equal("cursor" in browser.socket.last, false);
});

void test("waits longer after each failure, and not at all when hurried", () => {
  const { browser, live } = start();
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    const [since, n] = [browser.time, browser.sockets.length];
    browser.socket.lose();
    while (browser.sockets.length === n) browser.pass(100);
    waits.push(browser.time - since);
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]);
  browser.socket.lose();
  const n = browser.sockets.length;
  live.hurry();
  assert.equal(browser.sockets.length, n + 1);
});

void test("silence of 35 s is a loss; heartbeats are not silence", () => {
  const { browser, connections } = start();
  browser.socket.accept();
  const id = browser.socket.last["id"];
  browser.socket.say(snapshot(id));
  for (let i = 0; i < 5; i++) {
    browser.pass(15_000);
    browser.socket.say({ id, type: "heartbeat", cursor: "c1" });
  }
  assert.deepEqual(connections, ["open"]);
  browser.pass(41_000);
  assert.deepEqual(connections, ["open", "lost"]);
});

void test("behind a heartbeat's cursor it goes on from its own", () => {
  const { browser } = start();
  browser.socket.accept();
  browser.socket.say(snapshot(browser.socket.last["id"]));
  browser.socket.say({ id: browser.socket.last["id"], type: "heartbeat", cursor: "c9" });
  assert.equal(browser.socket.last["op"], "subscribe");
  assert.equal(browser.socket.last["cursor"], "c1");
});

void test("after a malformed message there is a new snapshot, at once and then ever later", () => {
  const { browser, restarts } = start();
  browser.socket.accept();
  browser.socket.say(snapshot(browser.socket.last["id"]));
  browser.socket.say({ id: browser.socket.last["id"], type: "state", state: "??" });
  browser.pass(0);
  assert.equal(browser.socket.last["op"], "subscribe");
  assert.equal("cursor" in browser.socket.last, false);
  assert.equal(restarts(), 1);
  const n = browser.socket.sent.length;
  browser.socket.say({ id: browser.socket.last["id"], type: "state", state: "??" });
  browser.pass(500);
  assert.equal(browser.socket.sent.filter((m) => m["op"] === "subscribe").length, browser.socket.sent.slice(0, n).filter((m) => m["op"] === "subscribe").length);
  browser.pass(3000);
  assert.equal(browser.socket.last["op"], "subscribe");
});

void test("a closed subscription is ended and hears nothing more", () => {
  const { browser, sub, got } = start();
  browser.socket.accept();
  const id = browser.socket.last["id"];
  sub.close();
  assert.deepEqual(browser.socket.last, { op: "unsubscribe", id });
  browser.socket.say(snapshot(id));
  assert.deepEqual(got, []);
});

void test("a reset makes the next connection ask for a snapshot", () => {
  const { browser, restarts } = start();
  browser.socket.accept();
  browser.socket.say(snapshot(browser.socket.last["id"]));
  browser.socket.say({ id: browser.socket.last["id"], type: "reset", reason: "too slow" });
  assert.equal(restarts(), 1);
  browser.socket.lose();
  browser.pass(600);
  browser.socket.accept();
  assert.equal("cursor" in browser.socket.last, false);
});

void test("ends only subscriptions that the server holds", () => {
  const { browser, sub } = start();
  const ended = () => browser.sockets.flatMap((s) => s.sent).filter((m) => m["op"] === "unsubscribe").map((m) => m["id"]);
  browser.socket.accept();
  assert.deepEqual(ended(), []);
  browser.socket.lose();
  browser.pass(600);
  browser.socket.accept();
  assert.deepEqual(ended(), []);
  const held = browser.socket.last["id"];
  sub.resync("a test");
  browser.pass(0);
  assert.deepEqual(ended(), [held]);
  browser.socket.say({ id: browser.socket.last["id"], type: "error", problem: { title: "No", status: 400, detail: "" } });
  sub.close();
  assert.deepEqual(ended(), [held]);
});
