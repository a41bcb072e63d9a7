import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShownStep } from "../../../static/src/activity/timeline.ts";
import type { Value } from "../../../static/src/model/fields.ts";
import { netChanges } from "../../../static/src/object/changes/net-changes.ts";

const value = (v: unknown): Value => (v === undefined ? { type: "none" } : { type: "value", value: v });
const step = (...fields: [path: string, before: unknown, after: unknown][]): ShownStep =>
  ({
    fields: fields.map(([pathText, before, after]) => ({
      pathText,
      before: value(before),
      after: value(after),
      isVolatile: pathText.endsWith("resourceVersion"),
      by: [],
    })),
  }) as unknown as ShownStep;

void test("several updates are summarized by their combined changes", () => {
  const updates = [
    step(["status.readyReplicas", 6, 7], ["metadata.resourceVersion", "2", "3"]),
    step(["status.readyReplicas", 5, 6], ["status.phase", undefined, "Running"]),
    step(["status.readyReplicas", 4, 5], ["status.flapping", false, true]),
    step(["status.flapping", true, false]),
  ];
  assert.deepEqual(netChanges(updates), ["readyReplicas 4 → 7", "phase none → Running"]);
});

void test("a field that was added and removed again has no combined change", () => {
  const updates = [
    step(["status.unavailableReplicas", 1, undefined]),
    step(["status.unavailableReplicas", undefined, 1], ["status.readyReplicas", 4, 5]),
  ];
  assert.deepEqual(netChanges(updates), ["readyReplicas 4 → 5"]);
});

void test("long values and objects are left out, and only a few changes are named", () => {
  assert.deepEqual(netChanges([step(["status.a", "x".repeat(99), "y"], ["status.b", { c: 1 }, 2])]), []);
  const many = step(...["a", "b", "c", "d", "e"].map((n): [string, unknown, unknown] => [`status.${n}`, 1, 2]));
  assert.deepEqual(netChanges([many]), ["a 1 → 2", "b 1 → 2", "c 1 → 2", "2 more"]);
});
