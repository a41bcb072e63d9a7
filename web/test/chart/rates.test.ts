// Invariant: I41.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pointText } from "../../static/src/chart/chart-data.ts";
import { rateChart, rateSentence, readRates, type Rates } from "../../static/src/chart/rates.ts";
import type { JsonObject } from "../../static/src/net/wire.ts";

const start = new Date(2026, 10, 21, 10, 0, 0); // local time, because texts have local times
const at = (seconds: number): string => new Date(start.getTime() + seconds * 1000).toISOString();
const counts = (...last: (number | null)[]): (number | null)[] => [
  ...Array.from({ length: 30 - last.length }, () => null),
  ...last,
];
const message = (more: JsonObject = {}): JsonObject => ({
  id: 8,
  type: "rates",
  start: at(0),
  step: 10,
  restarts: { state: "live", since: at(274), counts: counts(0, 2, 1) },
  warnings: { state: "live", counts: Array.from({ length: 30 }, () => 0) },
  ...more,
});
const read = (m: JsonObject): Rates => {
  const rates = readRates(m);
  assert.ok(rates !== null);
  return rates;
};

void test("an invalid message is rejected", () => {
  assert.equal(readRates(message())?.restarts?.counts[28], 2);
  const { restarts: _, ...withoutPods } = message();
  assert.equal(read(withoutPods).restarts, null);
  const warnings = { state: "live", counts: counts(1) };
  for (const wrong of [
    { start: "yesterday" },
    { step: 0 },
    { warnings: null },
    { restarts: null },
    { warnings: { ...warnings, state: "fine" } },
    { warnings: { ...warnings, counts: [1, 2] } },
    { warnings: { ...warnings, counts: counts(-1) } },
    { warnings: { ...warnings, counts: counts(0.5) } },
  ])
    assert.equal(readRates(message(wrong)), null, JSON.stringify(wrong));
});

void test("the sentence contains the current numbers and the start of the data", () => {
  const rates = read(message());
  const now = start.getTime() + 300_000;
  const text = (kind: "restarts" | "warnings"): string => rateSentence(rates, rates[kind] ?? rates.warnings, kind, now);
  assert.equal(text("restarts"), "3 restarts since 10:04:34, when the data starts, the last at 10:04:50.");
  assert.equal(text("warnings"), "No warnings in the last 5 minutes.");
  const one = read(message({ restarts: { state: "stale", reason: "The watch ended.", counts: counts(0, 1, null) } }));
  assert.equal(
    rateSentence(one, one.restarts ?? one.warnings, "restarts", now),
    "1 restart in the last 5 minutes, the last at 10:04:40. Not current (stale). The watch ended.",
  );
  const none = read(
    message({ warnings: { state: "forbidden", reason: "You cannot watch events.", counts: counts() } }),
  );
  assert.equal(rateSentence(none, none.warnings, "warnings", now), "No data (forbidden). You cannot watch events.");
  const loading = read(message({ warnings: { state: "syncing", counts: counts() } }));
  assert.equal(rateSentence(loading, loading.warnings, "warnings", now), "Loading…");
});

void test("time without data is shown as one gap, and not as zero", () => {
  const rates = read(message());
  const chart = rateChart(rates, rates.restarts ?? rates.warnings, "restarts");
  assert.ok(chart !== null);
  const first = start.getTime() / 1000;
  assert.deepEqual(chart.gaps, [[first, first + 274]]);
  assert.deepEqual(chart.values[0]?.slice(26), [null, 0, 2, 1]);
  assert.deepEqual([chart.min, chart.max, chart.times[0]], [first, first + 300, first + 5]);
  assert.equal(pointText(chart, 28), "10:04:40: restarts 2");
  assert.equal(pointText(chart, 0), "10:00:00: restarts no data");
  assert.deepEqual(rateChart(rates, rates.warnings, "warnings")?.gaps, []);
  const stale = { ...rates.warnings, counts: [...counts(1, 1).slice(1), null] };
  assert.deepEqual(rateChart(rates, stale, "warnings")?.gaps, [
    [first, first + 270],
    [first + 290, first + 300],
  ]);
  assert.equal(rateChart(rates, { ...rates.warnings, counts: counts() }, "warnings"), null);
});
