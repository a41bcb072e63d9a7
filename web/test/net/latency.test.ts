// Invariant: I38.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Latency } from "../../static/src/net/latency.ts";
import { Live } from "../../static/src/net/live.ts";
import { Browser } from "../fake-browser.ts";

function start() {
  const browser = new Browser();
  let hidden = false;
  const measurements: (number | null)[] = [];
  const live: Live = new Live("ws://x", browser, () => latency.reconnected());
  const latency = new Latency(live, {
    clock: () => browser.time,
    now: () => browser.time,
    after: (ms, run) => browser.after(ms, run),
    cancel: (timer) => browser.cancel(timer),
    hidden: () => hidden,
  });
  // Record each new value.
  let latest: number | null = null;
  Object.defineProperty(latency, "ms", {
    get: () => latest,
    set: (ms: number | null) => {
      if (ms !== latest) measurements.push(ms);
      latest = ms;
    },
  });
  live.connect();
  browser.socket.accept();
  const pings = (): unknown[] => browser.socket.sent.filter((m) => m["op"] === "ping").map((m) => m["id"]);
  return {
    browser,
    measurements,
    pings,
    hide: (is: boolean) => (hidden = is),
    pong: (id: unknown = pings().at(-1)) => browser.socket.receive({ id, type: "pong" }),
  };
}

void test("the round-trip time is measured at intervals", () => {
  const s = start();
  assert.deepEqual(s.pings(), []);
  s.browser.advance(1000);
  assert.deepEqual(s.pings(), [1]);
  s.browser.advance(4);
  s.pong();
  assert.deepEqual(s.measurements, [4]);
  s.pong();
  s.browser.advance(9995);
  assert.deepEqual(
    [s.pings(), s.measurements],
    [[1], [4]],
    "a second pong is ignored, and the next ping is sent after 10 s",
  );
  s.browser.advance(1);
  s.browser.advance(30);
  s.pong();
  assert.deepEqual(
    [s.pings(), s.measurements],
    [
      [1, 2],
      [4, 30],
    ],
  );
});

void test("an unanswered ping clears the measurement", () => {
  const s = start();
  s.browser.advance(1005);
  s.pong();
  s.browser.advance(10_000);
  assert.deepEqual(s.measurements, [5]);
  s.browser.advance(10_000);
  assert.deepEqual(
    [s.pings(), s.measurements],
    [
      [1, 2],
      [5, null],
    ],
    "an unanswered ping is not repeated, and clears the measurement",
  );
  s.pong();
  assert.deepEqual(s.measurements, [5, null, 10_005], "a late pong is measured, too");
  s.browser.socket.drop();
  assert.deepEqual(s.measurements.at(-1), null);
  s.browser.advance(600);
  s.browser.socket.accept();
  s.browser.advance(999);
  s.pong(2);
  assert.deepEqual(
    [s.pings(), s.measurements.at(-1)],
    [[], null],
    "a pong for a ping of the previous connection is ignored",
  );
  s.browser.advance(1);
  assert.deepEqual(s.pings(), [3]);
});

void test("a hidden page sends no pings", () => {
  const s = start();
  s.hide(true);
  s.browser.advance(60_000);
  assert.deepEqual(s.pings(), []);
  s.hide(false);
  s.browser.advance(10_000);
  assert.deepEqual(s.pings(), [1]);
});
