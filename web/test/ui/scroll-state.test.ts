// Invariant: I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import { scrollPositionOf } from "../../static/src/ui/scroll-state.ts";

void test("the scroll position is read only from a valid history state", () => {
  for (const [state, want] of [
    [{ place: 12.5 }, 12.5],
    [{ place: 0 }, 0],
    [null, null],
    [undefined, null],
    ["12", null],
    [{}, null],
    [{ place: "12" }, null],
    [{ place: -1 }, null],
    [{ place: NaN }, null],
  ] as const)
    assert.equal(scrollPositionOf(state), want);
});
