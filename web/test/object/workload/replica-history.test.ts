// Invariant: I41.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ReplicaHistory } from "../../../static/src/object/workload/replica-history.ts";
import type { Change, JsonObject } from "../../../static/src/net/wire.ts";

const ref = "apps/v1/deployments";
const start = new Date(2026, 10, 21, 10, 0, 0).getTime();
const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString();
const deployment = (desired: number, ready: number, updated = desired): JsonObject => ({
  metadata: { uid: "u", generation: 1, resourceVersion: "1" },
  spec: { replicas: desired },
  status: { observedGeneration: 1, replicas: ready, readyReplicas: ready, updatedReplicas: updated },
});
const change = (seconds: number, ...patch: [path: string, value: number][]): Change => ({
  op: "update",
  ns: "a",
  name: "web",
  uid: "u",
  rv: String(seconds),
  time: at(seconds),
  patch: patch.map(([path, value]) => ({ op: "replace", path, value })),
  by: { manager: "kubectl", operation: "Update", subresource: "", time: at(seconds) },
});
const seconds = (times: readonly number[]): number[] => times.map((t) => t - start / 1000);

void test("each version with different numbers is a step", () => {
  const history = new ReplicaHistory(ref);
  assert.equal(history.chart(start), null);
  assert.ok(
    history.applySnapshot(deployment(2, 2), at(0), [
      change(60, ["/spec/replicas", 4], ["/metadata/generation", 2]),
      change(70, ["/metadata/generation", 2]),
      change(80, ["/status/readyReplicas", 3]),
    ]),
  );
  assert.ok(history.add([change(90, ["/status/readyReplicas", 4], ["/status/updatedReplicas", 4])]));
  const chart = history.chart(start + 120_000);
  assert.ok(chart !== null);
  assert.deepEqual(seconds(chart.times), [0, 60, 80, 90, 120]);
  assert.deepEqual(chart.values, [
    [2, 4, 4, 4, 4],
    [2, 2, 3, 4, 4],
    [2, 2, 2, 4, 4],
  ]);
  assert.deepEqual(
    chart.series.map((s) => s.label),
    ["Desired", "Ready", "Updated"],
  );
  assert.deepEqual(chart.markers, [{ at: start / 1000 + 60, text: "Spec changed at 10:01:00 by kubectl" }]);
  assert.equal(history.sentence(start + 120_000), "4 of 4 ready (lowest: 2). History starts at 10:00:00.");
});

void test("without changes, there is one line from the start of the history, and a gap before it", () => {
  const history = new ReplicaHistory(ref);
  assert.ok(history.applySnapshot(deployment(2, 2), at(0), []));
  const chart = history.chart(start + 20_000);
  assert.deepEqual(seconds(chart?.times ?? []), [0, 20]);
  assert.deepEqual(
    chart?.series.map((s) => s.label),
    ["Desired", "Ready"],
    "there is no line for updated replicas if they equal the desired ones",
  );
  assert.deepEqual([chart?.min, chart?.gaps], [start / 1000 - 40, [[start / 1000 - 40, start / 1000]]]);
});

void test("a deleted workload has no replicas", () => {
  const history = new ReplicaHistory(ref);
  assert.ok(history.applySnapshot(deployment(2, 2), at(0), [{ ...change(60), op: "delete" }]));
  const chart = history.chart(start + 120_000);
  assert.deepEqual(chart?.values, [
    [2, null, null],
    [2, null, null],
  ]);
  assert.equal(history.sentence(start + 120_000), "History starts at 10:00:00.");
  history.clear();
  assert.equal(history.chart(start + 120_000), null);
});
