import assert from "node:assert/strict";
import { test } from "node:test";
import { kept, nextLoad, waited } from "../static/src/awaited.ts";

void test("a page that is loaded anew in vain is loaded ever less often, five minutes apart at most", () => {
  let [state, now] = [null as unknown, 1_000_000];
  const waits = Array.from({ length: 9 }, () => {
    const { wait, apart } = nextLoad(state, now);
    now += wait;
    state = kept({ at: now, apart });
    now += 400; // ms, until the resources are listed again
    return wait;
  });
  assert.deepEqual(waits, [0, 4600, 9600, 19_600, 39_600, 79_600, 159_600, 299_600, 299_600]);
  assert.deepEqual(nextLoad(state, now + 600_000), { wait: 0, apart: 5000 }, "long after it is another matter");
});

void test("what else is kept with the entry is no load", () => {
  for (const state of [
    null,
    "1",
    {},
    { place: 3 },
    { load: null },
    { load: { at: 0 } },
    kept({ at: 0, apart: 1 }),
    kept({ at: 0, apart: NaN }),
    kept({ at: NaN, apart: 5000 }),
    kept({ at: 9000, apart: 5000 }),
  ])
    assert.deepEqual(nextLoad(state, 100), { wait: 0, apart: 5000 });
});

void test("what is kept with the entry is known from what else is", () => {
  assert.deepEqual([kept({ at: 9000, apart: 5000 }), null, { place: 3 }, { load: null }].map(waited), [
    true,
    false,
    false,
    false,
  ]);
});
