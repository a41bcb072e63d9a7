import assert from "node:assert/strict";
import { test } from "node:test";
import { replicasOf, type Replicas } from "../../../static/src/object/workload/replicas.ts";

const deployment = (replicas: number, status: object): object => ({
  spec: { replicas },
  status: { observedGeneration: 1, ...status },
});
const bar = (r: Replicas | null): string => (r?.segments ?? []).map((s) => `${s.count} ${s.label}`).join(", ");
const none = { failed: 0, degraded: 0, progressing: 0 };
const ref = "apps/v1/deployments";

void test("one bar and one sentence show the replicas of a workload", () => {
  const healthy = { replicas: 3, readyReplicas: 3, updatedReplicas: 3, availableReplicas: 3 };
  const r = replicasOf(ref, deployment(3, healthy), none);
  assert.deepEqual([bar(r), r?.text, r?.level], ["3 ready", "3 of 3 ready", "good"]);

  const broken = { replicas: 6, readyReplicas: 2, updatedReplicas: 4, availableReplicas: 1 };
  const b = replicasOf(ref, deployment(7, broken), { ...none, failed: 3 });
  assert.equal(bar(b), "2 ready, 3 failed, 1 not ready, 1 missing");
  assert.equal(b?.text, "2 of 7 ready, 4 updated, 1 available, 3 failed");
  assert.equal(b?.level, "bad");

  const surge = { replicas: 4, readyReplicas: 3, updatedReplicas: 1, availableReplicas: 3 };
  assert.equal(replicasOf(ref, deployment(3, surge), null)?.text, "3 of 3 ready, 1 updated, 1 more than desired");
  assert.equal(replicasOf(ref, deployment(3, surge), null)?.level, "warn");
});

void test("the bar and the sentence have the colors of the pods that are not ready", () => {
  const colors = (ready: number, pods: Partial<typeof none>): string[] => {
    const r = replicasOf(ref, deployment(5, { replicas: 5, readyReplicas: ready, updatedReplicas: 5 }), {
      ...none,
      ...pods,
    });
    return [r?.level ?? "", ...(r?.segments ?? []).map((s) => `${s.count} ${s.label} ${s.level}`)];
  };
  assert.deepEqual(colors(0, { degraded: 2, progressing: 3 }), ["warn", "2 degraded warn", "3 progressing progress"]);
  assert.deepEqual(colors(3, { progressing: 2 }), ["progress", "3 ready good", "2 progressing progress"]);
  assert.deepEqual(colors(3, { failed: 1, degraded: 1 }), ["bad", "3 ready good", "1 failed bad", "1 degraded warn"]);
  assert.deepEqual(colors(4, { degraded: 3 }), ["warn", "4 ready good", "1 degraded warn"], "ready pods stay ready");
  assert.deepEqual(colors(0, {}), ["bad", "5 not ready warn"]);
});

void test("unknown and absent replicas are never zero", () => {
  assert.deepEqual(replicasOf(ref, { spec: { replicas: 2 } }, null), {
    segments: [],
    text: "2 desired",
    level: "quiet",
  });
  assert.equal(replicasOf(ref, { spec: {} }, null)?.text, "Number of replicas unknown");
  assert.equal(replicasOf(ref, deployment(0, {}), null)?.text, "Scaled to 0");
  assert.equal(replicasOf(ref, deployment(2, {}), null)?.text, "0 of 2 ready, 0 updated");
  assert.equal(replicasOf("core/v1/pods", deployment(1, {}), null), null);
});

void test("the text of a DaemonSet counts nodes, and that of a ReplicaSet omits updated pods", () => {
  const status = { desiredNumberScheduled: 12, currentNumberScheduled: 12, numberReady: 11, observedGeneration: 2 };
  const text = replicasOf("apps/v1/daemonsets", { status: { ...status, updatedNumberScheduled: 12 } }, null)?.text;
  assert.equal(text, "11 of 12 ready, 0 available");
  const unused = { desiredNumberScheduled: 0, currentNumberScheduled: 0, numberReady: 0, observedGeneration: 1 };
  assert.equal(replicasOf("apps/v1/daemonsets", { status: unused }, null)?.text, "0 desired");
  const set = deployment(2, { replicas: 2, readyReplicas: 2, availableReplicas: 2 });
  assert.equal(replicasOf("apps/v1/replicasets", set, null)?.text, "2 of 2 ready");
});
