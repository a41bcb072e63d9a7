// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionsOf } from "../../../static/src/object/facts/conditions.ts";
import { annotationsOf, labelsOf, metaFacts, ownersOf } from "../../../static/src/object/facts/meta.ts";

const condition = (type: string, status: string, reason = ""): string => {
  const [c] = conditionsOf({ status: { conditions: [{ type, status, reason }] } });
  return `${c?.level}`;
};

for (const [type, status, reason, want] of [
  ["Ready", "True", "", "good"],
  ["Ready", "False", "", "bad"],
  ["Ready", "Unknown", "", "warn"],
  ["Ready", "maybe", "", "warn"],
  ["Ready", "False", "PodCompleted", "quiet"],
  ["MemoryPressure", "False", "", "good"],
  ["MemoryPressure", "True", "", "bad"],
  ["NetworkUnavailable", "False", "", "good"],
  ["Available", "True", "", "good"],
  ["Progressing", "False", "ProgressDeadlineExceeded", "bad"],
  ["ReplicaFailure", "True", "", "bad"],
  ["Failed", "True", "", "bad"],
  ["Complete", "True", "", "good"],
  ["Stalled", "True", "", "bad"],
  ["Degraded", "False", "", "good"],
  ["PodReadyToStartContainers", "True", "", "good"],
  ["DisruptionTarget", "True", "", "bad"],
  // Only the controllers of these conditions know which status is good.
  ["Issuing", "True", "", "quiet"],
  ["Suspended", "True", "", "quiet"],
  ["ScalingLimited", "False", "", "quiet"],
  ["constructor", "True", "", "quiet"],
] as const) {
  void test(`the condition ${type} ${status} ${reason} has the level ${want}`, () =>
    assert.equal(condition(type, status, reason), want));
}

void test("conditions have reason, message and time, and unique keys", () => {
  const since = "2026-11-21T10:00:00Z";
  const conditions = [
    { type: "Ready", status: "True", reason: "Ok", message: " well\n", lastTransitionTime: since },
    { type: "Ready", status: "False", lastUpdateTime: since },
    { type: 7 },
    "x",
    null,
    { type: "Up" },
  ];
  assert.deepEqual(
    conditionsOf({ status: { conditions } }).map(({ key, type, status, reason, message, since }) => [
      key,
      type,
      status,
      reason,
      message,
      since,
    ]),
    [
      ["Ready", "Ready", "True", "Ok", "well", since],
      ["Ready#1", "Ready", "False", "", "", since],
      ["Up", "Up", "Unknown", "", "", ""],
    ],
  );
});

const facts = (o: unknown): Record<string, string> =>
  Object.fromEntries(
    metaFacts(o).map((f) => [
      f.name,
      f.pieces.map((p) => `${p.text}${p.level === undefined ? "" : ` [${p.level}]`}`).join(" | "),
    ]),
  );

void test("metadata facts show the generation and the observed generation", () => {
  const metadata = {
    name: "web",
    namespace: "shop",
    uid: "u-1",
    generation: 4,
    creationTimestamp: "2026-11-21T10:00:00Z",
    deletionTimestamp: "2026-11-21T11:00:00Z",
    finalizers: ["example.com/protect"],
  };
  const got = facts({ apiVersion: "apps/v1", kind: "Deployment", metadata, status: { observedGeneration: 3 } });
  assert.deepEqual(got, {
    Name: "web",
    Namespace: "shop",
    Created: "2026-11-21T10:00:00Z ago",
    Deletion: "requested 2026-11-21T11:00:00Z ago [warn]",
    Finalizers: "example.com/protect [warn]",
    Generation: "4 | controller observed 3 [warn]",
    Kind: "Deployment, apps/v1",
    UID: "u-1",
  });
  assert.equal(
    facts({ metadata: { generation: 4 }, status: { observedGeneration: 4 } })["Generation"],
    "4 | observed [good]",
  );
  assert.equal(facts({ metadata: { generation: 4 }, status: {} })["Generation"], "4");
});

void test("labels, annotations and owners are sorted, including those with invalid values", () => {
  const metadata = {
    labels: { b: "2", a: "1", n: 7 },
    annotations: { z: "x", empty: "" },
    ownerReferences: [
      { kind: "Job", name: "j", uid: "1", apiVersion: "batch/v1" },
      { kind: "Set", name: "s", uid: "2", apiVersion: "v1", controller: true },
      { kind: "Nameless" },
      7,
    ],
  };
  assert.deepEqual(labelsOf({ metadata }), [
    { key: "a", value: "1" },
    { key: "b", value: "2" },
    { key: "n", value: "7" },
  ]);
  assert.deepEqual(annotationsOf({ metadata }), [
    { key: "empty", value: "" },
    { key: "z", value: "x" },
  ]);
  assert.deepEqual(
    ownersOf({ metadata }).map((o) => o.name),
    ["s", "j"],
  );
});

void test("the time of a deletion request precedes the end of the grace period", () => {
  const metadata = { deletionTimestamp: "2026-11-21T12:00:30Z", deletionGracePeriodSeconds: 30 };
  const [deletion] = metaFacts({ metadata });
  assert.equal(deletion?.pieces[0]?.text, "requested 2026-11-21T12:00:00Z ago");
});
