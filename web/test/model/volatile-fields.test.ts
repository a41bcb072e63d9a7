import assert from "node:assert/strict";
import { test } from "node:test";
import { applicableOps } from "../../static/src/model/volatile-fields.ts";
import type { PatchOp } from "../../static/src/net/wire.ts";

void test("an applicable patch omits the fields that the API server sets", () => {
  const set = (path: string): PatchOp => ({ op: "replace", path, value: "x" });
  const applicable = [
    "/spec/replicas",
    "/metadata/labels/uid",
    "/metadata/annotations/resourceVersion",
    "/metadata/finalizers/0",
    "/metadata/generationOf",
    "/spec/metadata/resourceVersion",
    "/status/observedGeneration",
    "/resourceVersion",
  ].map(set);
  const serverSet = [
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/managedFields",
    "/metadata/managedFields/0/time",
    "/metadata/uid",
    "/metadata/creationTimestamp",
    "/metadata/deletionTimestamp",
    "/metadata/deletionGracePeriodSeconds",
    "/metadata/selfLink",
  ].map(set);
  assert.deepEqual(
    applicableOps([...serverSet, ...applicable, { op: "remove", path: "/metadata/managedFields/1" }]),
    applicable,
  );
  assert.deepEqual(applicableOps(serverSet), []);
});
