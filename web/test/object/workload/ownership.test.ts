import assert from "node:assert/strict";
import { test } from "node:test";
import { ownsPod, podQueryOf, podsOfJobs, revisionOf } from "../../../static/src/object/workload/ownership.ts";

const owned = (kind: string, name: string, uid: string, own = `uid-of-${name}`): object => ({
  metadata: { uid: own, ownerReferences: [{ kind, name, uid, controller: true }] },
});

void test("each kind of workload has a query for its pods", () => {
  const object = { metadata: { name: "web" }, spec: { selector: { matchLabels: { app: "web" } } } };
  const intermediate = (ref: string): string | undefined => podQueryOf(ref, object)?.intermediate?.ref;
  assert.equal(intermediate("apps/v1/deployments"), "apps/v1/replicasets");
  assert.equal(intermediate("apps/v1/statefulsets"), "apps/v1/controllerrevisions");
  assert.equal(podQueryOf("batch/v1/jobs", object)?.labels, "app=web");
  assert.deepEqual(podQueryOf("batch/v1/cronjobs", object), {
    labels: "",
    intermediate: { ref: "batch/v1/jobs", labels: "", namePrefix: "web-" },
    ownsPods: true,
  });
  assert.equal(podQueryOf("core/v1/configmaps", object), null);
  assert.equal(podQueryOf("apps/v1/deployments", { spec: {} }), null);
  assert.equal(podQueryOf("core/v1/services", { spec: { selector: { app: "web" } } })?.ownsPods, false);
  assert.equal(podQueryOf("core/v1/services", { spec: {} }), null, "a Service without a selector has no pods");
  assert.equal(podsOfJobs([]), "");
  assert.equal(podsOfJobs(["a", "b"]), "batch.kubernetes.io/job-name in (a,b)");
});

void test("a workload owns a pod directly, or through an object that it owns", () => {
  const set = owned("Deployment", "web", "u-web", "u-set");
  const read = (between: object | null) => (): object | null => between;
  assert.equal(ownsPod("u-web", owned("StatefulSet", "web", "u-web"), read(null)), true);
  assert.equal(ownsPod("u-web", owned("ReplicaSet", "web-1", "u-set"), read(set)), true);
  assert.equal(ownsPod("u-other", owned("ReplicaSet", "web-1", "u-set"), read(set)), false);
  assert.equal(
    ownsPod("u-web", owned("ReplicaSet", "web-1", "u-old"), read(set)),
    false,
    "a pod of an earlier ReplicaSet with the same name is not owned",
  );
  assert.equal(
    ownsPod("u-web", owned("ReplicaSet", "web-1", "u-set"), read(null)),
    true,
    "a pod counts as owned while its ReplicaSet is not loaded",
  );
  assert.equal(ownsPod("u-web", owned("StatefulSet", "db", "u-db"), read(null)), false);
  assert.equal(ownsPod("u-web", { metadata: {} }, read(null)), false, "a pod without an owner is not owned");
});

void test("revisions are read as numbers", () => {
  assert.equal(revisionOf({ revision: 7 }), 7);
  assert.equal(revisionOf({ metadata: { annotations: { "deployment.kubernetes.io/revision": "12" } } }), 12);
  for (const o of [null, {}, { metadata: { annotations: { "deployment.kubernetes.io/revision": "x" } } }])
    assert.equal(revisionOf(o), null);
});
