// Invariant: I19.

import assert from "node:assert/strict";
import { test } from "node:test";
import { historyState, nextReload, hasReloadState } from "../../static/src/list/pending-kind.ts";

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
  assert.deepEqual(nextReload(state, now + 600_000), { wait: 0, delay: 5000 }, "long after it is another matter");
});

void test("other state of the history entry is not a reload state", () => {
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
