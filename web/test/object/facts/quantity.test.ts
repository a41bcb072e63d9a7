// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAgesInSentence } from "../../../static/src/text/age.ts";
import { bytes } from "../../../static/src/text/quantity.ts";
import { amount, quantity } from "../../../static/src/object/facts/quantity.ts";

for (const [raw, want] of [
  ["100m", 0.1],
  ["1", 1],
  [2, 2],
  ["1.5", 1.5],
  [".5", 0.5],
  ["1Ki", 1024],
  ["16393244Ki", 16786681856],
  ["1M", 1e6],
  ["1e3", 1000],
  ["1E3", 1000],
  ["2E", 2e18],
  ["-5", -5],
  [10n, 10],
  ["", null],
  ["1 Gi", null],
  ["Gi", null],
  ["1GiB", null],
  [null, null],
  [{}, null],
  ["1e999", null],
] as const) {
  void test(`the quantity ${String(raw)} is parsed as ${String(want)}`, () => assert.equal(quantity(raw), want));
}

for (const [resource, raw, want] of [
  ["cpu", "250m", "0.25 cores"],
  ["cpu", "1", "1 core"],
  ["cpu", "1500m", "1.5 cores"],
  ["cpu", "0", "0 cores"],
  ["requests.cpu", "2", "2 cores"],
  ["memory", "16393244Ki", "15.6 Gi"],
  ["memory", "134217728", "128 Mi"],
  ["ephemeral-storage", "100Gi", "100 Gi"],
  ["requests.storage", "1Ti", "1 Ti"],
  ["hugepages-2Mi", "4Mi", "4 Mi"],
  ["pods", "110", "110"],
  ["nvidia.com/gpu", "2", "2"],
  ["cpu", "lots", "lots"],
  ["memory", undefined, ""],
] as const) {
  void test(`${resource} ${String(raw)} is formatted as ${want}`, () => assert.equal(amount(resource, raw), want));
}

void test("sizes have three digits and a unit", () => {
  assert.deepEqual([0, 1, 1023, 1024, 1536, 1048575, 2 ** 30 * 1.234, 2 ** 62].map(bytes), [
    "0 B",
    "1 B",
    "1023 B",
    "1 Ki",
    "1.5 Ki",
    "1024 Ki",
    "1.23 Gi",
    "4 Ei",
  ]);
});

void test("a time in a sentence becomes an age or a remaining time", () => {
  const now = Date.parse("2026-11-21T10:05:00Z");
  assert.equal(formatAgesInSentence("2026-11-21T10:00:00Z ago", now), "5m ago");
  assert.equal(formatAgesInSentence("2026-11-21T10:05:01Z ago", now), "0s ago");
  assert.equal(formatAgesInSentence("2027-02-19T10:05:00Z ago", now), "in 90d");
  assert.equal(formatAgesInSentence("first 2026-11-21T10:00:00Z ago", now), "first 5m ago");
  assert.equal(formatAgesInSentence("Running 2026-11-21T10:00:00Z", now), "Running 5m");
});
