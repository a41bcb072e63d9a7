import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, jsonText, type Value } from "../static/src/fields.ts";
import { isNoise } from "../static/src/noise.ts";
import { at, pathWords, segments } from "../static/src/paths.ts";
import type { PatchOp, Tree } from "../static/src/wire.ts";

const pod: Tree = {
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

void test("paths as people write them", () => {
  const words = (pointer: string, root: unknown = pod): string => pathWords(segments(pointer), root);
  for (const [pointer, want] of [
    ["/spec/containers/0/image", "spec.containers[web].image"],
    ["/spec/containers/0/ports/1/containerPort", "spec.containers[web].ports[81].containerPort"],
    ["/status/conditions/0", "status.conditions[Ready]"],
    ["/spec/mounts/1/mountPath", "spec.mounts[/b].mountPath"],
    ["/spec/tolerations/1/effect", "spec.tolerations[1].effect"], // the key a does not identify it
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
  assert.equal(at(pod, segments("/metadata/labels/app.kubernetes.io~1name")), "web");
  assert.equal(at(pod, ["constructor"]), undefined);
});

const text = (v: Value): string => (v.is === "value" ? JSON.stringify(v.value) : v.is);
const told = (before: Tree | null, patch: readonly PatchOp[]): string[] =>
  fieldsOf(before, { patch }).map((f) => `${f.words}: ${text(f.before)} > ${text(f.after)}${f.noise ? " quiet" : ""}`);

void test("what was there before, op by op", () => {
  assert.deepEqual(told(pod, [
    { op: "replace", path: "/spec/containers/1/image", value: "side:2" },
    { op: "remove", path: "/spec/containers/0" },
    { op: "replace", path: "/spec/containers/0/image", value: "side:3" }, // the side container is at this index by now
    { op: "add", path: "/spec/containers/0", value: { name: "first" } },
    { op: "add", path: "/metadata/labels/new", value: "x" },
    { op: "remove", path: "/metadata/labels/tier" },
    { op: "replace", path: "/metadata/resourceVersion", value: "2" },
  ]), [
    `spec.containers[side].image: "side:1" > "side:2"`,
    `spec.containers[web]: {"name":"web","image":"web:1","ports":[{"containerPort":80},{"containerPort":81}]} > none`,
    `spec.containers[side].image: "side:2" > "side:3"`,
    `spec.containers[first]: none > {"name":"first"}`,
    `metadata.labels.new: none > "x"`,
    `metadata.labels.tier: "front" > none`,
    `metadata.resourceVersion: none > "2" quiet`,
  ]);
});

void test("what is not known is not invented", () => {
  assert.deepEqual(told(null, [
    { op: "replace", path: "/status/phase", value: "Running" },
    { op: "remove", path: "/spec/nodeName" },
    { op: "add", path: "/metadata/labels/a", value: "b" },
  ]), [`status.phase: unknown > "Running"`, "spec.nodeName: unknown > none", `metadata.labels.a: none > "b"`]);
});

void test("a value that is replaced as a whole is told by what differs", () => {
  assert.deepEqual(
    told(pod, [
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
  assert.deepEqual(told({ l: ["a", "b"] }, [{ op: "replace", path: "/l", value: ["b", "c", "d"] }]), [
    `l: ["a","b"] > ["b","c","d"]`,
  ]);
  assert.deepEqual(
    told({ l: [{ name: "a" }, { name: "b" }] }, [{ op: "replace", path: "/l", value: [{ name: "b" }, { name: "a" }] }]),
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
  const who = (given: Parameters<typeof fieldsOf>[1]): string =>
    fieldsOf({}, given)
      .map((f) => f.by.map((b) => b.manager).join("+"))
      .join();
  assert.equal(who({ patch, by: by("kubectl") }), "kubectl,kubectl");
  assert.equal(
    who({ patch, by: by("kubectl"), authors: [by("kubectl", [1]), by("helm", [0, 1])] }),
    "helm,kubectl+helm",
  );
  assert.equal(who({ patch }), ",");
});

void test("noise", () => {
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
    assert.equal(isNoise(segments(pointer)), want, pointer);
});

void test("JSON keeps long numbers", () =>
  assert.equal(
    jsonText([{ n: 9007199254740993n, s: "9007199254740993" }]).replace(/\s/g, ""),
    `[{"n":9007199254740993,"s":"9007199254740993"}]`,
  ));
