import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changeSummary,
  differences,
  revisionsOf,
  shortImage,
  type Revision,
} from "../../../static/src/object/workload/revisions.ts";
import type { JsonObject } from "../../../static/src/net/wire.ts";

const template = (image: string, hash: string, env = "off"): object => ({
  metadata: { labels: { app: "web", "pod-template-hash": hash } },
  spec: { containers: [{ name: "app", image, env: [{ name: "FEATURE_X", value: env }] }] },
});
const set = (revision: number, image: string, env?: string): JsonObject => ({
  metadata: {
    name: `web-${revision}`,
    uid: `u${revision}`,
    creationTimestamp: `2026-11-21T10:0${revision}:00Z`,
    annotations: { "deployment.kubernetes.io/revision": String(revision) },
  },
  spec: { replicas: revision === 3 ? 4 : 0, template: template(image, `h${revision}`, env) },
  status: { readyReplicas: revision === 3 ? 2 : 0 },
});
const deployment = { metadata: { annotations: { "deployment.kubernetes.io/revision": "3" } } };

void test("ReplicaSets are the revisions of a Deployment, newest first", () => {
  const all = revisionsOf(deployment, [set(1, "r/web:1"), set(3, "r/web:3", "on"), set(2, "r/web:2")]);
  assert.deepEqual(
    all.map((r) => [r.number, r.isCurrent, r.images, r.replicas]),
    [
      [3, true, ["r/web:3"], { ready: 2, desired: 4 }],
      [2, false, ["r/web:2"], { ready: 0, desired: 0 }],
      [1, false, ["r/web:1"], { ready: 0, desired: 0 }],
    ],
  );
  const [newest, middle, oldest] = all as [Revision, Revision, Revision];
  assert.equal(changeSummary(middle, newest), "app 2 → 3, 1 more field");
  assert.equal(changeSummary(oldest, middle), "app 1 → 2");
  assert.deepEqual(
    differences(middle, newest).map((f) => f.pathText),
    ["spec.containers[app].image", "spec.containers[app].env[FEATURE_X].value"],
    "the pod template hash does not count as a difference",
  );
});

void test("ControllerRevisions are the revisions of a StatefulSet", () => {
  const revision = (n: number, image: string): JsonObject => ({
    metadata: { name: `db-${n}`, uid: `u${n}` },
    revision: n,
    data: { spec: { template: { $patch: "replace", spec: { containers: [{ name: "db", image }] } } } },
  });
  const all = revisionsOf({ status: { updateRevision: "db-1" } }, [revision(1, "db:16"), revision(2, "db:17")]);
  assert.deepEqual(
    all.map((r) => [r.number, r.isCurrent, r.replicas]),
    [
      [2, false, null],
      [1, true, null],
    ],
  );
  assert.equal(changeSummary(all[1] as Revision, all[0] as Revision), "db 16 → 17");
});

void test("a rollback to an equal template is not a change", () => {
  const all = revisionsOf(deployment, [set(3, "r/web:1"), set(2, "r/web:1")]);
  assert.equal(changeSummary(all[1] as Revision, all[0] as Revision), "");
});

void test("objects of any shape cause no errors", () => {
  const odd: JsonObject[] = [{}, { spec: 7 }, { revision: "x", data: [] }, { spec: { template: { metadata: 1 } } }];
  for (const o of odd) assert.equal(revisionsOf(null, [o]).length, 1);
  const [first, ...rest] = revisionsOf(null, odd) as [Revision, ...Revision[]];
  for (const other of rest) assert.match(changeSummary(other, first), /^(\d fields?)?$/);
});

void test("images are shortened", () => {
  assert.equal(shortImage("registry.example.com:5000/shop/web:9.9"), "web:9.9");
  assert.equal(shortImage(`r/web@sha256:${"a".repeat(64)}`), "web@sha256:aaaaaaaa");
});
