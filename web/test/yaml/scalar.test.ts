// Invariant: I36.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareKeys } from "../../static/src/yaml/scalar.ts";

void test("keys are sorted as by kubectl", () => {
  const order = [
    "-",
    ".",
    "_",
    "1",
    "2",
    "10",
    "A",
    "B2",
    "B10",
    "a",
    "a-1",
    "a.b",
    "a1",
    "a01",
    "a2",
    "a10",
    "a100",
    "a10b",
    "aB",
    "ab",
    "b",
  ];
  for (const [i, a] of order.entries())
    for (const [j, b] of order.entries()) assert.equal(Math.sign(compareKeys(a, b)), Math.sign(i - j), `${a} and ${b}`);
});
