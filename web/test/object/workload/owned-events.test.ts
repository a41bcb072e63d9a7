import assert from "node:assert/strict";
import { test } from "node:test";
import { eventTarget, isOwnedEvent, type EventScope } from "../../../static/src/object/workload/owned-events.ts";

const scope: EventScope = {
  kind: "Deployment",
  name: "web",
  intermediateKind: "replicaset",
  intermediates: ["web-7d9f8b6c5"],
  pods: new Set(["web-7d9f8b6c5-kxh98"]),
  ownsPods: true,
};

void test("events of a workload and of the objects that it owns are merged", () => {
  for (const object of [
    "deployment/web",
    "Deployment/web",
    "replicaset/web-7d9f8b6c5",
    "pod/web-7d9f8b6c5-kxh98",
    "pod/web-7d9f8b6c5-gone1",
  ])
    assert.equal(isOwnedEvent(object, scope), true, object);
  for (const object of [
    "deployment/web-2",
    "service/web",
    "replicaset/web-66dd5f4c7",
    "pod/web-worker-1",
    "pod/web-7d9f8b6c5",
    "pod/web-7d9f8b6c5-kxh98-x",
    "",
    "web",
  ])
    assert.equal(isOwnedEvent(object, scope), false, object);
});

void test("pods of a StatefulSet are recognized by their numbers", () => {
  const set = { ...scope, kind: "StatefulSet", intermediateKind: "", intermediates: [], pods: new Set<string>() };
  assert.equal(isOwnedEvent("pod/web-12", set), true);
  assert.equal(isOwnedEvent("pod/web-12-x", set), false);
});

void test("a Service owns no pods", () => {
  const service = { ...scope, kind: "Service", ownsPods: false };
  assert.equal(isOwnedEvent("pod/web-7d9f8b6c5-kxh98", service), true, "selected");
  assert.equal(isOwnedEvent("pod/web-7d9f8b6c5-gone1", service), false);
});

void test("events link to their objects", () => {
  assert.deepEqual(eventTarget("pod/web-1"), { ref: "core/v1/pods", name: "web-1" });
  assert.deepEqual(eventTarget("replicaset/web"), { ref: "apps/v1/replicasets", name: "web" });
  assert.equal(eventTarget("thing/x").ref, "");
  assert.equal(eventTarget("x").ref, "");
});
