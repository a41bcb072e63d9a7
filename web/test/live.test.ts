import assert from "node:assert/strict";
import { test } from "node:test";
import { Live, type Connection } from "../static/src/live.ts";
import type { Message } from "../static/src/wire.ts";
import { Browser } from "./browser.ts";

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

void test("subscribes once open, and goes on from the cursor after a loss", () => {
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

void test("a field selector is sent, and left out where it is empty", () => {
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

for (const [name, code, reason, wait, said] of [
  ["a server that stops", 1001, "retry after 1830 ms: the server stops", 1830, "the server stops"],
  [
    "one with too much to do",
    1013,
    "retry after 42 ms: too many viewers: try again later",
    42,
    "too many viewers: try again later",
  ],
  ["a time beyond all patience", 1013, "retry after 999999999 ms: no", 60_000, "no"],
  ["words alone", 1001, "the server stops", 500, "the server stops"],
  ["a time that goes with no such close", 1008, "retry after 9 ms: refused", 500, "retry after 9 ms: refused"],
  ["no word", 1006, "", 500, ""],
] as const) {
  void test(`comes back when the server says: ${name}`, () => {
    const { browser, live } = start();
    browser.socket.accept();
    browser.socket.lose(code, reason);
    assert.equal(live.said, said);
    const since = browser.time;
    while (browser.sockets.length === 1) browser.pass(1);
    assert.equal(browser.time - since, wait);
    assert.equal(live.said, said, "until the server is back");
    browser.socket.accept();
    assert.equal(live.said, "");
  });
}

void test("a time that the server named is not hurried, and holds once", () => {
  const { browser, live } = start();
  browser.socket.accept();
  browser.socket.lose(1001, "retry after 5000 ms: the server stops");
  live.hurry();
  browser.pass(4999);
  assert.equal(browser.sockets.length, 1);
  browser.pass(1);
  assert.equal(browser.sockets.length, 2);
  browser.socket.lose();
  live.hurry();
  assert.equal(browser.sockets.length, 3);
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

void test("behind a digest's cursor it goes on from its own, and counts nothing", () => {
  const { browser, got } = start();
  browser.socket.accept();
  browser.socket.say(snapshot(browser.socket.last["id"]));
  const digest = { type: "digest", count: 0, digest: "00000000" };
  browser.socket.say({ ...digest, id: browser.socket.last["id"], cursor: "c1" });
  browser.socket.say({ ...digest, id: browser.socket.last["id"], cursor: "c9" });
  assert.deepEqual(got, ["rows", "digest"]);
  assert.equal(browser.socket.last["cursor"], "c1");
});

void test("kinds are subscribed to without a resource, and may be silent", () => {
  const browser = new Browser();
  const live: Live = new Live("ws://x", browser, () => undefined);
  live.subscribe({ resource: "", view: "resources" }, { message: () => undefined, restart: () => undefined });
  live.connect();
  browser.socket.accept();
  assert.deepEqual(browser.socket.last, { op: "subscribe", id: browser.socket.last["id"], view: "resources" });
  browser.pass(600_000);
  assert.equal(live.connection, "open");
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
  assert.equal(
    browser.socket.sent.filter((m) => m["op"] === "subscribe").length,
    browser.socket.sent.slice(0, n).filter((m) => m["op"] === "subscribe").length,
  );
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

void test("tries again what the server cannot do now, and no other", () => {
  const { browser, got, sub } = start();
  browser.socket.accept();
  const asked = () => browser.sockets.flatMap((s) => s.sent).filter((m) => m["op"] === "subscribe").length;
  const refuse = (status: number) =>
    browser.socket.say({ id: browser.socket.last["id"], type: "error", problem: { title: "No", status, detail: "" } });
  for (const wait of [2000, 4000, 8000, 16_000, 20_000, 20_000]) {
    const before = asked();
    refuse(503);
    browser.pass(wait / 2 - 1);
    assert.equal(asked(), before);
    browser.pass(wait / 2 + 1);
    assert.equal(asked(), before + 1);
  }
  browser.socket.say(snapshot(browser.socket.last["id"]));
  assert.deepEqual(got.slice(-2), ["error", "rows"]);
  refuse(503);
  sub.close();
  refuse(403);
  const before = asked();
  browser.pass(60_000);
  assert.equal(asked(), before);
});

void test("ends only subscriptions that the server holds", () => {
  const { browser, sub } = start();
  const ended = () =>
    browser.sockets
      .flatMap((s) => s.sent)
      .filter((m) => m["op"] === "unsubscribe")
      .map((m) => m["id"]);
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
  browser.socket.say({
    id: browser.socket.last["id"],
    type: "error",
    problem: { title: "No", status: 400, detail: "" },
  });
  sub.close();
  assert.deepEqual(ended(), [held]);
});

void test("a connection to a server that shows another cluster is not tried again", () => {
  const { browser, live } = start();
  browser.socket.accept();
  browser.socket.lose(4409, "the server shows another cluster; begin anew");
  browser.pass(600_000);
  live.hurry();
  assert.equal(browser.others, 1);
  assert.equal(browser.sockets.length, 1);
});

void test("a long message is told by its parts, and taken as one", () => {
  const { browser, live } = start();
  browser.socket.accept();
  const [got, far]: [Message["type"][], string[]] = [[], []];
  live.subscribe(
    { resource: "core/v1/pods", ns: ["big"], name: "web", view: "object" },
    { message: (m) => got.push(m.type), restart: () => {}, part: (told, of) => far.push(`${told} of ${of}`) },
  );
  const id = browser.socket.last["id"];
  const whole = JSON.stringify({ id, type: "snapshot", cursor: "c1", object: { a: 'é"\u2028' }, last: true });
  const tell = (from: number, to: number): void =>
    browser.socket.say({ id, type: "part", told: to, of: whole.length, text: whole.slice(from, to) });
  tell(0, 10);
  tell(10, 30);
  assert.deepEqual([got, far], [[], [`10 of ${whole.length}`, `30 of ${whole.length}`]]);
  tell(30, whole.length);
  assert.deepEqual([got, far.length], [["object"], 2]);
  tell(0, 20);
  // Access was lost, so the rest of the message never arrives.
  browser.socket.say({ id, type: "state", state: "forbidden" });
  tell(0, whole.length);
  assert.deepEqual(
    [got, browser.reports],
    [["object", "state", "object"], []],
    "nothing is left of what did not stand",
  );
  got.splice(1);
  tell(0, 20);
  browser.socket.lose();
  browser.pass(600);
  browser.socket.accept();
  const again = browser.socket.sent
    .map((frame) => frame as { id: number; view: string })
    .find((m) => m.view === "object");
  browser.socket.say({ id: again?.id, type: "events", cursor: "c2", events: [] });
  browser.socket.say({ id: again?.id, type: "part", told: 5, of: 41, text: `{"id"` });
  browser.socket.say({
    id: again?.id,
    type: "part",
    told: 41,
    of: 41,
    text: `:${again?.id},"type":"reset","reason":""}`,
  });
  assert.deepEqual(
    [got, browser.reports],
    [["object", "object-events", "reset"], []],
    "nothing is left of what was cut off",
  );
});
