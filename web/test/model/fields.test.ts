// Invariant: I41.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, jsonText, type Value } from "../../static/src/model/fields.ts";
import { isVolatile } from "../../static/src/model/volatile-fields.ts";
import { valueAt, pathText, segments } from "../../static/src/model/paths.ts";
import type { PatchOp, JsonObject } from "../../static/src/net/wire.ts";

const pod: JsonObject = {
  metadata: { name: "web-1", labels: { "app.kubernetes.io/name": "web", tier: "front" } },
  spec: {
    containers: [
      { name: "web", image: "web:1", ports: [{ containerPort: 80 }, { containerPort: 81 }] },
      { name: "side", image: "side:1" },
    ],
    tolerations: [
      { key: "a", effect: "NoSchedule" },
      { key: "a", effect: "NoExecute" },
    ],
    mounts: [
      { name: "config", mountPath: "/a" },
      { name: "config", mountPath: "/b" },
    ],
  },
  status: { conditions: [{ type: "Ready", status: "False" }] },
};

void test("paths are formatted for people", () => {
  const words = (pointer: string, root: unknown = pod): string => pathText(segments(pointer), root);
  for (const [pointer, want] of [
    ["/spec/containers/0/image", "spec.containers[web].image"],
    ["/spec/containers/0/ports/1/containerPort", "spec.containers[web].ports[81].containerPort"],
    ["/status/conditions/0", "status.conditions[Ready]"],
    ["/spec/mounts/1/mountPath", "spec.mounts[/b].mountPath"],
    ["/spec/tolerations/1/effect", "spec.tolerations[1].effect"], // an index, because two tolerations have the key "a"
    ["/metadata/labels/app.kubernetes.io~1name", "metadata.labels[app.kubernetes.io/name]"],
    ["/metadata/labels/til~0de", "metadata.labels[til~de]"],
    ["", "."],
  ] as const)
    assert.equal(words(pointer), want);
  assert.equal(
    words("/spec/containers/0/image", null),
    "spec.containers[0].image",
    "without the object there are no names",
  );
  assert.equal(valueAt(pod, segments("/metadata/labels/app.kubernetes.io~1name")), "web");
  assert.equal(valueAt(pod, ["constructor"]), undefined);
});

const text = (v: Value): string => (v.type === "value" ? JSON.stringify(v.value) : v.type);
const describeFields = (before: JsonObject | null, patch: readonly PatchOp[]): string[] =>
  fieldsOf(before, { patch }).map(
    (f) => `${f.pathText}: ${text(f.before)} > ${text(f.after)}${f.isVolatile ? " quiet" : ""}`,
  );

void test("each operation has its previous value", () => {
  assert.deepEqual(
    describeFields(pod, [
      { op: "replace", path: "/spec/containers/1/image", value: "side:2" },
      { op: "remove", path: "/spec/containers/0" },
      { op: "replace", path: "/spec/containers/0/image", value: "side:3" }, // after the removal, "side" has the index 0
      { op: "add", path: "/spec/containers/0", value: { name: "first" } },
      { op: "add", path: "/metadata/labels/new", value: "x" },
      { op: "remove", path: "/metadata/labels/tier" },
      { op: "replace", path: "/metadata/resourceVersion", value: "2" },
    ]),
    [
      `spec.containers[side].image: "side:1" > "side:2"`,
      `spec.containers[web]: {"name":"web","image":"web:1","ports":[{"containerPort":80},{"containerPort":81}]} > none`,
      `spec.containers[side].image: "side:2" > "side:3"`,
      `spec.containers[first]: none > {"name":"first"}`,
      `metadata.labels.new: none > "x"`,
      `metadata.labels.tier: "front" > none`,
      `metadata.resourceVersion: none > "2" quiet`,
    ],
  );
});

void test("an unknown previous value stays unknown", () => {
  assert.deepEqual(
    describeFields(null, [
      { op: "replace", path: "/status/phase", value: "Running" },
      { op: "remove", path: "/spec/nodeName" },
      { op: "add", path: "/metadata/labels/a", value: "b" },
    ]),
    [`status.phase: unknown > "Running"`, "spec.nodeName: unknown > none", `metadata.labels.a: none > "b"`],
  );
});

void test("a replaced value is split into the fields that differ", () => {
  assert.deepEqual(
    describeFields(pod, [
      {
        op: "replace",
        path: "/status",
        value: {
          conditions: [
            { type: "Initialized", status: "True" },
            { type: "Ready", status: "True" },
          ],
          phase: "Running",
        },
      },
    ]),
    [
      `status.conditions[Initialized]: none > {"type":"Initialized","status":"True"}`,
      `status.conditions[Ready].status: "False" > "True"`,
      `status.phase: none > "Running"`,
    ],
  );
  assert.deepEqual(describeFields({ l: ["a", "b"] }, [{ op: "replace", path: "/l", value: ["b", "c", "d"] }]), [
    `l: ["a","b"] > ["b","c","d"]`,
  ]);
  assert.deepEqual(
    describeFields({ l: [{ name: "a" }, { name: "b" }] }, [
      { op: "replace", path: "/l", value: [{ name: "b" }, { name: "a" }] },
    ]),
    [`l: [{"name":"a"},{"name":"b"}] > [{"name":"b"},{"name":"a"}]`],
  );
});

void test("each field has its author", () => {
  const by = (manager: string, ops: number[] = []) => ({
    manager,
    operation: "Update",
    subresource: "",
    time: "",
    ops,
  });
  const patch: PatchOp[] = [
    { op: "add", path: "/a", value: 1 },
    { op: "add", path: "/b", value: 2 },
  ];
  const authors = (given: Parameters<typeof fieldsOf>[1]): string =>
    fieldsOf({}, given)
      .map((f) => f.by.map((b) => b.manager).join("+"))
      .join();
  assert.equal(authors({ patch, by: by("kubectl") }), "kubectl,kubectl");
  assert.equal(
    authors({ patch, by: by("kubectl"), authors: [by("kubectl", [1]), by("helm", [0, 1])] }),
    "helm,kubectl+helm",
  );
  assert.equal(authors({ patch }), ",");
});

void test("heartbeat fields are volatile", () => {
  for (const [pointer, want] of [
    ["/metadata/resourceVersion", true],
    ["/metadata/generation", true],
    ["/status/observedGeneration", true],
    ["/spec/renewTime", true],
    ["/status/conditions/0/lastHeartbeatTime", true],
    ["/status/conditions/0/lastProbeTime", true],
    ["/spec/generation", false],
    ["/data/resourceVersion", false],
    ["/status/conditions/0/lastTransitionTime", false],
    ["", false],
  ] as const)
    assert.equal(isVolatile(segments(pointer)), want, pointer);
});

void test("JSON output keeps all digits of large integers", () =>
  assert.equal(
    jsonText([{ n: 9007199254740993n, s: "9007199254740993" }]).replace(/\s/g, ""),
    `[{"n":9007199254740993,"s":"9007199254740993"}]`,
  ));
