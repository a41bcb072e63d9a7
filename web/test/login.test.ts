import assert from "node:assert/strict";
import { test } from "node:test";
import { KindFeed } from "../static/src/kindfeed.ts";
import { Live } from "../static/src/live.ts";
import { askWho } from "../static/src/login.ts";
import { Browser } from "./browser.ts";

void test("a connection whose login has ended is not tried again, but where who looks is known all the same", () => {
  const browser = new Browser();
  const live = new Live("ws://x", browser, () => undefined);
  live.connect();
  browser.socket.accept();
  browser.socket.lose(4401, "your login has ended; log in again");
  assert.equal(live.connection, "lost");
  assert.equal(live.said, "your login has ended; log in again");
  browser.pass(600_000);
  live.hurry();
  assert.equal(browser.sockets.length, 1);
  assert.equal(browser.again.length, 1);
  browser.again[0]?.();
  assert.equal(browser.sockets.length, 2);
  browser.socket.accept();
  assert.equal(live.connection, "open");
  browser.socket.lose(1006);
  browser.pass(600);
  assert.equal(browser.sockets.length, 3, "another loss is tried again by itself");
});

for (const [name, get, want] of [
  ["known", () => Promise.resolve(new Response("{}")), "known"],
  ["a stranger", () => Promise.resolve(new Response("{}", { status: 401 })), "stranger"],
  ["led elsewhere", () => Promise.reject(new TypeError("blocked")), "stranger"],
] as const) {
  void test(`who looks is ${name}`, async () => {
    const got: string[] = [];
    await askWho(() => got.push("known"), () => got.push("stranger"), get);
    assert.deepEqual(got, [want]);
  });
}

void test("an answer to a stranger leads to the login", async () => {
  let strangers = 0;
  const feed = new KindFeed(
    { listed: () => undefined, counted: () => undefined },
    () => undefined,
    () => undefined,
    () => strangers++,
  );
  const { fetch, setTimeout } = globalThis;
  Object.assign(globalThis, { fetch: () => Promise.resolve(new Response("{}", { status: 401 })), setTimeout: () => 0 });
  await feed.poll();
  Object.assign(globalThis, { fetch, setTimeout });
  assert.equal(strangers, 1);
});
