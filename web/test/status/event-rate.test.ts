import assert from "node:assert/strict";
import { test } from "node:test";
import { EventRate } from "../../static/src/status/event-rate.ts";

void test("the event rate covers the last seconds", () => {
  const rate = new EventRate();
  assert.equal(rate.text, "", "the rate is unknown before the first tick");
  for (const total of [0, 10, 20, 30, 40, 50]) rate.tick(total);
  assert.equal(rate.text, "10/s");
  for (const total of [51, 51, 51, 51, 51]) rate.tick(total);
  assert.equal(rate.text, "0.2/s");
  rate.tick(3); // a lower total, because a new feed counts its events from 0
  assert.equal(rate.text, "0/s");
});

void test("events before the measurement do not count", () => {
  const rate = new EventRate(500);
  rate.tick(502);
  assert.equal(rate.text, "2.0/s");
});
