// Invariant: I29.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KindFeed } from "../../static/src/model/kind-feed.ts";
import { Live } from "../../static/src/net/live.ts";
import { checkLogin } from "../../static/src/net/login.ts";
import { Browser } from "../fake-browser.ts";

void test("a logged-out connection is retried only if the user is still logged in", () => {
  const browser = new Browser();
  const live = new Live("ws://x", browser, () => undefined);
  live.connect();
  browser.socket.accept();
  browser.socket.drop(4401, "your login has ended; log in again");
  assert.equal(live.connection, "lost");
  assert.equal(live.closeReason, "your login has ended; log in again");
  browser.advance(600_000);
  live.retryNow();
  assert.equal(browser.sockets.length, 1);
  assert.equal(browser.reconnects.length, 1);
  browser.reconnects[0]?.();
  assert.equal(browser.sockets.length, 2);
  browser.socket.accept();
  assert.equal(live.connection, "open");
  browser.socket.drop(1006);
  browser.advance(600);
  assert.equal(browser.sockets.length, 3, "the page reconnects automatically after another lost connection");
});

for (const [name, get, want] of [
  ["a valid login", () => Promise.resolve(new Response("{}")), "logged in"],
  ["a 401 response", () => Promise.resolve(new Response("{}", { status: 401 })), "logged out"],
  ["a failed request", () => Promise.reject(new TypeError("blocked")), "logged out"],
] as const) {
  void test(`checkLogin: ${name}`, async () => {
    const got: string[] = [];
    await checkLogin(
      () => got.push("logged in"),
      () => got.push("logged out"),
      get,
    );
    assert.deepEqual(got, [want]);
  });
}

void test("a 401 response opens the login page", async () => {
  let loginRedirects = 0;
  const feed = new KindFeed(
    { kindsListed: () => undefined, kindsCounted: () => undefined },
    () => undefined,
    () => undefined,
    () => loginRedirects++,
  );
  const { fetch, setTimeout } = globalThis;
  Object.assign(globalThis, { fetch: () => Promise.resolve(new Response("{}", { status: 401 })), setTimeout: () => 0 });
  await feed.poll();
  Object.assign(globalThis, { fetch, setTimeout });
  assert.equal(loginRedirects, 1);
});
