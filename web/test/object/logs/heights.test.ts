// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Heights } from "../../../static/src/object/logs/heights.ts";

void test("heights convert between lines and positions", () => {
  const heights = new Heights();
  for (let i = 0; i < 10; i++) heights.push(18);
  assert.equal(heights.total, 180);
  assert.deepEqual(
    [
      heights.lineAt(-5),
      heights.lineAt(0),
      heights.lineAt(17),
      heights.lineAt(18),
      heights.lineAt(179),
      heights.lineAt(999),
    ],
    [0, 0, 0, 1, 9, 9],
  );
  assert.equal(heights.set(2, 54), 36);
  assert.equal(heights.heightAbove(3), 90);
  assert.equal(heights.lineAt(80), 2);
  assert.equal(heights.dropBefore(3), 90);
  assert.deepEqual(
    [heights.first, heights.end, heights.total, heights.heightAbove(4), heights.lineAt(0)],
    [3, 10, 126, 18, 3],
  );
  assert.equal(heights.set(2, 5), 0, "heights of dropped lines are ignored");
});
