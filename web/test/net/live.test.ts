// Invariant: I38, I44.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Live, type Connection } from "../../static/src/net/live.ts";
import type { Message } from "../../static/src/net/wire.ts";
import { Browser } from "../fake-browser.ts";

function start() {
  const browser = new Browser();
  const connections: Connection[] = [];
  const got: Message["type"][] = [];
  let restarts = 0;
  const live: Live = new Live("ws://x", browser, () => connections.push(live.connection));
  const sub = live.subscribe(
    { resource: "core/v1/pods", ns: ["big"], labels: "", view: "table" },
    { message: (m) => got.push(m.type), restart: () => restarts++ },
  );
  live.connect();
  return { browser, live, sub, connections, got, restarts: () => restarts };
}
const snapshot = (id: unknown) => ({ id, type: "snapshot", cursor: "c1", columns: [], rows: [], last: true });

void test("the page subscribes once the socket is open, and resumes from the cursor after a lost connection", () => {
  const { browser, connections, got } = start();
  assert.deepEqual(browser.socket.sent, []);
  browser.socket.accept();
  assert.deepEqual(browser.socket.last, {
    op: "subscribe",
    id: browser.socket.last["id"],
    resource: "core/v1/pods",
    ns: ["big"],
    view: "table",
  });
  const id = browser.socket.last["id"];
  browser.socket.receive(snapshot(id));
  browser.socket.receive({ id, type: "events", cursor: "c2", events: [] });
  assert.deepEqual(got, ["rows", "row-events"]);
  browser.socket.drop();
  assert.deepEqual(connections, ["open", "lost"]);
  browser.advance(600);
  browser.socket.accept();
  assert.equal(browser.socket.last["cursor"], "c2");
  assert.ok(browser.socket.last["id"] !== id, "the new subscription has another id, so that old messages are ignored");
});

void test("a field selector is sent only if it is not empty", () => {
  const { browser, live } = start();
  browser.socket.accept();
  const deaf = { message: () => {}, restart: () => {} };
  live.subscribe({ resource: "core/v1/events", ns: [], fields: "involvedObject.uid=u-1", view: "table" }, deaf);
  assert.deepEqual(browser.socket.last, {
    op: "subscribe",
    id: browser.socket.last["id"],
    resource: "core/v1/events",
    fields: "involvedObject.uid=u-1",
    view: "table",
  });
  live.subscribe({ resource: "core/v1/events", fields: "", view: "table" }, deaf);
  assert.deepEqual(browser.socket.last, {
    op: "subscribe",
    id: browser.socket.last["id"],
    resource: "core/v1/events",
    view: "table",
  });
});

void test("an interrupted snapshot is requested again completely", () => {
  const { browser, restarts } = start();
  browser.socket.accept();
  browser.socket.receive({ ...snapshot(browser.socket.last["id"]), last: false });
  browser.socket.drop();
  assert.equal(restarts(), 1);
  browser.advance(600);
  browser.socket.accept();
  assert.equal("cursor" in browser.socket.last, false);
});

void test("the retry delay doubles up to 20 s, retries never end, and retryNow skips the delay", () => {
  const { browser, live } = start();
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    const [since, n] = [browser.time, browser.sockets.length];
    browser.socket.drop();
    while (browser.sockets.length === n) browser.advance(100);
    waits.push(browser.time - since);
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]);
  const before = browser.sockets.length;
  for (let i = 1; i <= 2000; i++) {
    browser.socket.drop();
    browser.advance(20_000);
    assert.equal(browser.sockets.length, before + i);
  }
  browser.socket.drop();
  const n = browser.sockets.length;
  live.retryNow();
  assert.equal(browser.sockets.length, n + 1);
});

for (const [name, code, reason, wait, closeReason] of [
  ["the server stops", 1001, "retry after 1830 ms: the server stops", 1830, "the server stops"],
  [
    "the server has too many viewers",
    1013,
    "retry after 42 ms: too many viewers: try again later",
    42,
    "too many viewers: try again later",
  ],
  ["the delay is longer than the maximum", 1013, "retry after 999999999 ms: no", 60_000, "no"],
  ["a close reason without a delay", 1001, "the server stops", 500, "the server stops"],
  [
    "a delay with a close code that does not allow one",
    1008,
    "retry after 9 ms: refused",
    500,
    "retry after 9 ms: refused",
  ],
  ["no close reason", 1006, "", 500, ""],
] as const) {
  void test(`the page reconnects after the delay that the server requests: ${name}`, () => {
    const { browser, live } = start();
    browser.socket.accept();
    browser.socket.drop(code, reason);
    assert.equal(live.closeReason, closeReason);
    const since = browser.time;
    while (browser.sockets.length === 1) browser.advance(1);
    assert.equal(browser.time - since, wait);
    assert.equal(live.closeReason, closeReason, "the close reason stays until the connection is open");
    browser.socket.accept();
    assert.equal(live.closeReason, "");
  });
}

void test("retryNow does not skip a delay that the server requested, and the delay applies once", () => {
  const { browser, live } = start();
  browser.socket.accept();
  browser.socket.drop(1001, "retry after 5000 ms: the server stops");
  live.retryNow();
  browser.advance(4999);
  assert.equal(browser.sockets.length, 1);
  browser.advance(1);
  assert.equal(browser.sockets.length, 2);
  browser.socket.drop();
  live.retryNow();
  assert.equal(browser.sockets.length, 3);
});

void test("the connection is lost after 35 s without a message or heartbeat", () => {
  const { browser, connections } = start();
  browser.socket.accept();
  const id = browser.socket.last["id"];
  browser.socket.receive(snapshot(id));
  for (let i = 0; i < 5; i++) {
    browser.advance(15_000);
    browser.socket.receive({ id, type: "heartbeat", cursor: "c1" });
  }
  assert.deepEqual(connections, ["open"]);
  browser.advance(41_000);
  assert.deepEqual(connections, ["open", "lost"]);
});

void test("a heartbeat with a newer cursor resumes from the page's own cursor", () => {
  const { browser } = start();
  browser.socket.accept();
  browser.socket.receive(snapshot(browser.socket.last["id"]));
  browser.socket.receive({ id: browser.socket.last["id"], type: "heartbeat", cursor: "c9" });
  assert.equal(browser.socket.last["op"], "subscribe");
  assert.equal(browser.socket.last["cursor"], "c1");
});

void test("a digest with a newer cursor resumes from the page's own cursor, without a reload", () => {
  const { browser, got } = start();
  browser.socket.accept();
  browser.socket.receive(snapshot(browser.socket.last["id"]));
  const digest = { type: "digest", count: 0, digest: "00000000" };
  browser.socket.receive({ ...digest, id: browser.socket.last["id"], cursor: "c1" });
  browser.socket.receive({ ...digest, id: browser.socket.last["id"], cursor: "c9" });
  assert.deepEqual(got, ["rows", "digest"]);
  assert.equal(browser.socket.last["cursor"], "c1");
});

void test("the resources view needs no resource, and stays connected without messages", () => {
  const browser = new Browser();
  const live: Live = new Live("ws://x", browser, () => undefined);
  live.subscribe({ resource: "", view: "resources" }, { message: () => undefined, restart: () => undefined });
  live.connect();
  browser.socket.accept();
  assert.deepEqual(browser.socket.last, { op: "subscribe", id: browser.socket.last["id"], view: "resources" });
  browser.advance(600_000);
  assert.equal(live.connection, "open");
});

void test("after a malformed message, the page requests a new snapshot, with growing delays", () => {
  const { browser, restarts } = start();
  browser.socket.accept();
  browser.socket.receive(snapshot(browser.socket.last["id"]));
  browser.socket.receive({ id: browser.socket.last["id"], type: "state", state: "??" });
  browser.advance(0);
  assert.equal(browser.socket.last["op"], "subscribe");
  assert.equal("cursor" in browser.socket.last, false);
  assert.equal(restarts(), 1);
  const n = browser.socket.sent.length;
  browser.socket.receive({ id: browser.socket.last["id"], type: "state", state: "??" });
  browser.advance(500);
  assert.equal(
    browser.socket.sent.filter((m) => m["op"] === "subscribe").length,
    browser.socket.sent.slice(0, n).filter((m) => m["op"] === "subscribe").length,
  );
  browser.advance(3000);
  assert.equal(browser.socket.last["op"], "subscribe");
});

void test("closing a subscription sends an unsubscribe, and later messages are ignored", () => {
  const { browser, sub, got } = start();
  browser.socket.accept();
  const id = browser.socket.last["id"];
  sub.close();
  assert.deepEqual(browser.socket.last, { op: "unsubscribe", id });
  browser.socket.receive(snapshot(id));
  assert.deepEqual(got, []);
});

void test("after a reset, the next connection requests a snapshot", () => {
  const { browser, restarts } = start();
  browser.socket.accept();
  browser.socket.receive(snapshot(browser.socket.last["id"]));
  browser.socket.receive({ id: browser.socket.last["id"], type: "reset", reason: "too slow" });
  assert.equal(restarts(), 1);
  browser.socket.drop();
  browser.advance(600);
  browser.socket.accept();
  assert.equal("cursor" in browser.socket.last, false);
});

void test("only a 503 error is retried", () => {
  const { browser, got, sub } = start();
  browser.socket.accept();
  const requested = () => browser.sockets.flatMap((s) => s.sent).filter((m) => m["op"] === "subscribe").length;
  const refuse = (status: number) =>
    browser.socket.receive({
      id: browser.socket.last["id"],
      type: "error",
      problem: { title: "No", status, detail: "" },
    });
  for (const wait of [2000, 4000, 8000, 16_000, 20_000, 20_000]) {
    const before = requested();
    refuse(503);
    browser.advance(wait / 2 - 1);
    assert.equal(requested(), before);
    browser.advance(wait / 2 + 1);
    assert.equal(requested(), before + 1);
  }
  browser.socket.receive(snapshot(browser.socket.last["id"]));
  assert.deepEqual(got.slice(-2), ["error", "rows"]);
  refuse(503);
  sub.close();
  refuse(403);
  const before = requested();
  browser.advance(60_000);
  assert.equal(requested(), before);
});

void test("only subscriptions that the server knows are unsubscribed", () => {
  const { browser, sub } = start();
  const ended = () =>
    browser.sockets
      .flatMap((s) => s.sent)
      .filter((m) => m["op"] === "unsubscribe")
      .map((m) => m["id"]);
  browser.socket.accept();
  assert.deepEqual(ended(), []);
  browser.socket.drop();
  browser.advance(600);
  browser.socket.accept();
  assert.deepEqual(ended(), []);
  const subscriptionId = browser.socket.last["id"];
  sub.requestSnapshot("a test");
  browser.advance(0);
  assert.deepEqual(ended(), [subscriptionId]);
  browser.socket.receive({
    id: browser.socket.last["id"],
    type: "error",
    problem: { title: "No", status: 400, detail: "" },
  });
  sub.close();
  assert.deepEqual(ended(), [subscriptionId]);
});

void test("a close because of another cluster is not retried", () => {
  const { browser, live } = start();
  browser.socket.accept();
  browser.socket.drop(4409, "the server shows another cluster; reload");
  browser.advance(600_000);
  live.retryNow();
  assert.equal(browser.clusterSwitches, 1);
  assert.equal(browser.sockets.length, 1);
});

void test("a chunked message reports its progress and is delivered once", () => {
  const { browser, live } = start();
  browser.socket.accept();
  const [got, far]: [Message["type"][], string[]] = [[], []];
  live.subscribe(
    { resource: "core/v1/pods", ns: ["big"], name: "web", view: "object" },
    {
      message: (m) => got.push(m.type),
      restart: () => {},
      part: (received, total) => far.push(`${received} of ${total}`),
    },
  );
  const id = browser.socket.last["id"];
  const fullText = JSON.stringify({ id, type: "snapshot", cursor: "c1", object: { a: 'é"\u2028' }, last: true });
  const sendPart = (from: number, to: number): void =>
    browser.socket.receive({ id, type: "part", told: to, of: fullText.length, text: fullText.slice(from, to) });
  sendPart(0, 10);
  sendPart(10, 30);
  assert.deepEqual([got, far], [[], [`10 of ${fullText.length}`, `30 of ${fullText.length}`]]);
  sendPart(30, fullText.length);
  assert.deepEqual([got, far.length], [["object"], 2]);
  sendPart(0, 20);
  // The viewer loses access in the middle of a long message, so the rest of that message never arrives.
  browser.socket.receive({ id, type: "state", state: "forbidden" });
  sendPart(0, fullText.length);
  assert.deepEqual(
    [got, browser.reports],
    [["object", "state", "object"], []],
    "the chunks of the incomplete message are discarded",
  );
  got.splice(1);
  sendPart(0, 20);
  browser.socket.drop();
  browser.advance(600);
  browser.socket.accept();
  const again = browser.socket.sent
    .map((frame) => frame as { id: number; view: string })
    .find((m) => m.view === "object");
  browser.socket.receive({ id: again?.id, type: "events", cursor: "c2", events: [] });
  browser.socket.receive({ id: again?.id, type: "part", told: 5, of: 41, text: `{"id"` });
  browser.socket.receive({
    id: again?.id,
    type: "part",
    told: 41,
    of: 41,
    text: `:${again?.id},"type":"reset","reason":""}`,
  });
  assert.deepEqual(
    [got, browser.reports],
    [["object", "object-events", "reset"], []],
    "the chunks from before the lost connection are discarded",
  );
});

void test("an error about a subscription that has just ended is not reported", () => {
  const browser = new Browser();
  const live = new Live("ws://x", browser, () => undefined);
  live.connect();
  browser.socket.accept();
  const refuse = (title: string): void =>
    browser.socket.receive({ type: "error", problem: { title, status: 400, detail: "There is none." } });
  refuse("No such subscription");
  assert.deepEqual(browser.reports, []);
  refuse("Unknown member");
  assert.deepEqual(browser.reports, ["the server rejected a message: Unknown member. There is none."]);
});
