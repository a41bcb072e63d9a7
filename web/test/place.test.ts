import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "../static/src/place.ts";

void test("the place of an entry of the history is what was kept there, and nothing else", () => {
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
    assert.equal(placeOf(state), want);
});
