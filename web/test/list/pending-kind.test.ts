// Invariant: I19.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { browser, openPage } from "../fake-app.ts";
import { historyState, nextReload, hasReloadState, reloadWhenServed } from "../../static/src/list/pending-kind.ts";
import type { ListedKind } from "../../static/src/net/kinds.ts";

void test("an unsuccessful reload doubles the delay, up to five minutes", () => {
  let [state, now] = [null as unknown, 1_000_000];
  const waits = Array.from({ length: 9 }, () => {
    const { wait, delay } = nextReload(state, now);
    now += wait;
    state = historyState({ at: now, delay });
    now += 400; // In this test, a reload takes 400 ms.
    return wait;
  });
  assert.deepEqual(waits, [0, 4600, 9600, 19_600, 39_600, 79_600, 159_600, 299_600, 299_600]);
  assert.deepEqual(
    nextReload(state, now + 600_000),
    { wait: 0, delay: 5000 },
    "a reload long after the previous one has no delay",
  );
});

void test("other values in the state of a history entry are not a reload state", () => {
  for (const state of [
    null,
    "1",
    {},
    { place: 3 },
    { load: null },
    { load: { at: 0 } },
    historyState({ at: 0, delay: 1 }),
    historyState({ at: 0, delay: NaN }),
    historyState({ at: NaN, delay: 5000 }),
    historyState({ at: 9000, delay: 5000 }),
  ])
    assert.deepEqual(nextReload(state, 100), { wait: 0, delay: 5000 });
});

void test("a stored reload state is recognized", () => {
  assert.deepEqual([historyState({ at: 9000, delay: 5000 }), null, { place: 3 }, { load: null }].map(hasReloadState), [
    true,
    false,
    false,
    false,
  ]);
});

/** Opens the error page for example.com/v1/widgets. The cluster serves widgets in the given API versions. */
function start(...versions: string[]) {
  openPage("/r/example.com/v1/widgets");
  let idle = true;
  let served: ListedKind[] = [];
  const kindsListed = reloadWhenServed(
    "example.com/v1/widgets",
    () => served,
    () => idle,
  );
  const list = (...versions: string[]): void => {
    served = ["other.com/v1", ...versions.map((version) => `example.com/${version}`)].map(
      (api) => ({ ref: `${api}/widgets`, group: api.split("/")[0], resource: "widgets" }) as ListedKind,
    );
    kindsListed(); // call it twice, because the list arrives over the WebSocket and by HTTP
    kindsListed();
    mock.timers.tick(0);
  };
  list(...versions);
  return {
    list,
    setIdle: (on: boolean) => {
      idle = on;
    },
  };
}

void test("the error page reloads once the cluster serves the resource, and stores the time", () => {
  const p = start();
  p.list();
  assert.deepEqual(browser.loads, []);
  p.list("v1");
  p.list("v1");
  assert.deepEqual(browser.loads, ["reload"]);
  assert.equal(hasReloadState(browser.state), true);
});

void test("another version of the resource reloads the page only if it is new", () => {
  const p = start("v2");
  p.list("v2");
  assert.deepEqual(browser.loads, [], "the page does not reload for a version that existed when it was rendered");
  p.list();
  p.list("v2");
  assert.deepEqual(browser.loads, ["reload"]);
});

void test("the page reloads only when it is idle, and only if the resource is still served", () => {
  const p = start();
  p.setIdle(false);
  p.list("v1");
  mock.timers.tick(5000);
  assert.deepEqual(browser.loads, []);
  p.list();
  p.setIdle(true);
  mock.timers.tick(5000);
  assert.deepEqual(browser.loads, [], "the page does not reload after the resource disappears again");
  p.setIdle(false);
  p.list("v1");
  p.setIdle(true);
  mock.timers.tick(1000);
  assert.deepEqual(browser.loads, ["reload"]);
});

void test("after an unsuccessful reload, the page doubles the delay before the next one", () => {
  const p = start();
  browser.state = historyState({ at: Date.now(), delay: 5000 });
  p.list("v1");
  mock.timers.tick(4000);
  assert.deepEqual(browser.loads, []);
  mock.timers.tick(1100);
  assert.deepEqual(browser.loads, ["reload"]);
  assert.equal((browser.state as { load: { delay: number } }).load.delay, 10_000);
});
