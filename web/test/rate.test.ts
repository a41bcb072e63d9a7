import assert from "node:assert/strict";
import { test } from "node:test";
import { Rate } from "../static/src/rate.ts";

void test("the rate is that of the last seconds", () => {
  const rate = new Rate();
  assert.equal(rate.words, "0/s");
  for (const total of [0, 10, 20, 30, 40, 50]) rate.tick(total);
  assert.equal(rate.words, "10/s");
  assert.equal(rate.line, "▁".repeat(5) + "█████");
  for (const total of [51, 51, 51, 51, 51]) rate.tick(total);
  assert.equal(rate.words, "0.2/s");
  rate.tick(3); // the total of another feed
  assert.equal(rate.words, "0/s");
});
