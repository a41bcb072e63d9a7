import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAges, humanDuration, firstTimestamp } from "../../static/src/text/age.ts";

const s = 1000,
  m = 60 * s,
  h = 60 * m,
  d = 24 * h,
  y = 365 * d;

// Source: duration_test.go in k8s.io/apimachinery, plus the durations at which the format changes.
const cases: [number, string][] = [
  [-10 * h, "<invalid>"],
  [-2 * s, "<invalid>"],
  [-1999, "0s"],
  [-1, "0s"],
  [0, "0s"],
  [999, "0s"],
  [s, "1s"],
  [70 * s, "70s"],
  [119 * s, "119s"],
  [120 * s, "2m"],
  [190 * s, "3m10s"],
  [9 * m + 59 * s, "9m59s"],
  [10 * m, "10m"],
  [10 * m + 59 * s, "10m"],
  [70 * m, "70m"],
  [179 * m, "179m"],
  [3 * h, "3h"],
  [3 * h + 5 * m, "3h5m"],
  [3 * h + 10 * m, "3h10m"],
  [7 * h + 59 * m, "7h59m"],
  [8 * h, "8h"],
  [9 * h + 40 * m, "9h"],
  [47 * h, "47h"],
  [48 * h, "2d"],
  [2 * d + 3 * h, "2d3h"],
  [7 * d + 23 * h, "7d23h"],
  [8 * d, "8d"],
  [8 * d + 23 * h, "8d"],
  [367 * d, "367d"],
  [2 * y - h, "729d"],
  [2 * y, "2y"],
  [4 * y, "4y"],
  [4 * y + 364 * d, "4y364d"],
  [8 * y - h, "7y364d"],
  [8 * y, "8y"],
  [20 * y + 3 * d, "20y"],
];

for (const [ms, want] of cases) {
  void test(`${ms} ms is formatted as ${want}`, () => assert.equal(humanDuration(ms), want));
}

void test("timestamps in a cell become ages", () => {
  const now = Date.parse("2026-11-21T10:05:00Z");
  assert.equal(formatAges("2026-11-21T10:00:00Z", now), "5m");
  assert.equal(formatAges("3 (2026-11-21T10:00:00Z ago)", now), "3 (5m ago)");
  assert.equal(formatAges("2026-11-21T11:00:00.5+01:00", now), "4m59s");
  assert.equal(formatAges("2026-11-21T10:00:00Z, 2026-11-20T10:05:00Z", now), "5m, 24h");
  assert.equal(formatAges("<unknown>", now), "<unknown>");
  assert.equal(formatAges("2026-99-21T10:00:00Z", now), "2026-99-21T10:00:00Z");
});

void test("firstTimestamp finds the first timestamp on every call", () => {
  for (let i = 0; i < 3; i++)
    assert.equal(firstTimestamp("3 (2026-11-21T10:00:00Z ago)"), Date.parse("2026-11-21T10:00:00Z"));
  assert.ok(Number.isNaN(firstTimestamp("none")));
});
