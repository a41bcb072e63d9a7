import assert from "node:assert/strict";
import { test } from "node:test";
import { Latency, latencyWords } from "../static/src/latency.ts";
import { Live } from "../static/src/live.ts";
import { Browser } from "./browser.ts";

function start() {
  const browser = new Browser();
  let hidden = false;
  const told: (number | null)[] = [];
  const live: Live = new Live("ws://x", browser, () => latency.reconnected());
  const latency = new Latency(
    live,
    {
      clock: () => browser.time,
      now: () => browser.time,
      after: (ms, run) => browser.after(ms, run),
      cancel: (timer) => browser.cancel(timer),
      hidden: () => hidden,
    },
    () => told.push(latency.ms),
  );
  live.connect();
  browser.socket.accept();
  const pings = (): unknown[] => browser.socket.sent.filter((m) => m["op"] === "ping").map((m) => m["id"]);
  return {
    browser,
    told,
    pings,
    hide: (is: boolean) => (hidden = is),
    pong: (id: unknown = pings().at(-1)) => browser.socket.say({ id, type: "pong" }),
  };
}

void test("what an answer takes is measured now and then", () => {
  const s = start();
  assert.deepEqual(s.pings(), []);
  s.browser.pass(1000);
  assert.deepEqual(s.pings(), [1]);
  s.browser.pass(4);
  s.pong();
  assert.deepEqual(s.told, [4]);
  s.pong();
  s.browser.pass(9995);
  assert.deepEqual([s.pings(), s.told], [[1], [4]], "a pong counts once, and 10 s have not passed");
  s.browser.pass(1);
  s.browser.pass(30);
  s.pong();
  assert.deepEqual([s.pings(), s.told], [[1, 2], [4, 30]]);
});

void test("what is not known is not told", () => {
  const s = start();
  s.browser.pass(1005);
  s.pong();
  s.browser.pass(10_000);
  assert.deepEqual(s.told, [5]);
  s.browser.pass(10_000);
  assert.deepEqual(
    [s.pings(), s.told],
    [
      [1, 2],
      [5, null],
    ],
    "one that is not answered is not asked for again, and ends what was known",
  );
  s.pong();
  assert.deepEqual(s.told, [5, null, 10_005], "however long it took");
  s.browser.socket.lose();
  assert.deepEqual(s.told.at(-1), null);
  s.browser.pass(600);
  s.browser.socket.accept();
  s.browser.pass(999);
  s.pong(2);
  assert.deepEqual([s.pings(), s.told.at(-1)], [[], null], "of the connection before");
  s.browser.pass(1);
  assert.deepEqual(s.pings(), [3]);
});

void test("nothing is asked while nobody looks", () => {
  const s = start();
  s.hide(true);
  s.browser.pass(60_000);
  assert.deepEqual(s.pings(), []);
  s.hide(false);
  s.browser.pass(10_000);
  assert.deepEqual(s.pings(), [1]);
});

void test("the words say what the number is", () => {
  const at = Date.parse("2026-11-21T10:00:00Z");
  assert.deepEqual(
    [0.4, 1.4, 12.5, 2400].map((ms) => latencyWords(ms, at, at).text),
    ["<1 ms", "1 ms", "13 ms", "2400 ms"],
  );
  assert.match(
    latencyWords(2, at, at).title,
    /^Browser ↔ Glasshouse: 2 ms, measured at \d\d:\d\d:\d\d \(not API server latency\)$/,
  );
});
