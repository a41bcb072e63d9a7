import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { History } from "../../static/src/model/history.ts";
import {
  formatFilter,
  isBurst,
  isByPeople,
  parseFilter,
  Timeline,
  type TimelineFilter,
} from "../../static/src/activity/timeline.ts";
import { formatIgnored, parseIgnored, withoutFields } from "../../static/src/compare/compare-ignore.ts";
import type { Change, PatchOp } from "../../static/src/net/wire.ts";

const change = (patch: PatchOp[], manager = "kubelet", op: Change["op"] = "update"): Change => ({
  op,
  ns: "",
  name: "n",
  uid: "u",
  rv: "",
  time: "2026-11-21T10:00:00Z",
  patch,
  by: { manager, operation: "Update", subresource: "", time: "" },
});
const set = (path: string, value: unknown): PatchOp => ({ op: "replace", path, value });
const beat = (): Change =>
  change([set("/metadata/resourceVersion", "2"), set("/status/conditions/0/lastHeartbeatTime", "t")]);
const object = {
  metadata: { uid: "u", resourceVersion: "1" },
  status: { phase: "Pending", conditions: [{ type: "Ready", lastHeartbeatTime: "s" }] },
};

const filterOf = (text: string, more: Partial<TimelineFilter> = {}): TimelineFilter => ({
  text,
  part: null,
  peopleOnly: false,
  ...more,
});

function draw(changes: readonly Change[], filter: string | TimelineFilter = "", most = 200): string {
  const history = new History();
  history.applySnapshot(object, "t", changes);
  const { groups, more } = new Timeline().read(
    history.steps,
    typeof filter === "string" ? filterOf(filter) : filter,
    most,
  );
  return (
    groups
      .map((g) =>
        isBurst(g)
          ? `${g.length} folded`
          : g[0].isMinor
            ? `${g.length} minor`
            : g[0].step.change.op === "update"
              ? g[0].fields.map((f) => f.pathText).join("+")
              : g[0].step.change.op,
      )
      .join(", ") + (more ? ", more" : "")
  );
}

void test("consecutive minor changes form one line", () => {
  const phase = change([set("/metadata/resourceVersion", "3"), set("/status/phase", "Running")], "kubectl");
  const all = [beat(), beat(), phase, beat(), change([], "gc", "delete")];
  assert.equal(draw(all), "delete, 1 minor, metadata.resourceVersion+status.phase, 2 minor");
  assert.equal(draw(all, "kubectl phase"), "status.phase");
  assert.equal(draw(all, "heartbeat"), "3 minor", "the matching changes are together");
  assert.equal(draw(all, "conditions[ready]"), "3 minor");
  assert.equal(draw(all, "deleted"), "delete");
  assert.equal(draw(all, "no such thing"), "");
  assert.equal(draw(all, "", 2), "delete, 1 minor, more");
  assert.equal(draw(all, "", 5), draw(all));
});

const updated = (n: number): Change =>
  change([set("/metadata/resourceVersion", `r${n}`), set("/status/phase", `p${n}`)], "kube-controller-manager");
const specChange = (): Change => change([{ op: "add", path: "/spec", value: { image: "b" } }], "kubectl-set");

void test("consecutive status updates form one line, and spec changes have their own", () => {
  const all = [updated(1), beat(), updated(2), specChange(), updated(3)];
  assert.equal(draw(all), "metadata.resourceVersion+status.phase, spec, 3 folded", "a single update is not folded");
  assert.equal(draw(all, filterOf("", { part: "spec" })), "spec");
  assert.equal(draw(all, filterOf("", { part: "status" })), "status.phase, status.phase, 1 minor, status.phase");
  assert.equal(draw(all, filterOf("", { part: "metadata" })), "");
  assert.equal(draw(all, filterOf("", { peopleOnly: true })), "spec");
  const history = new History();
  history.applySnapshot(object, "t", all);
  assert.deepEqual(
    [...new Timeline().counts(history.steps, "")],
    [
      ["spec", 1],
      ["status", 4],
      ["metadata", 0],
    ],
  );
});

void test("the filter has a form for the URL", () => {
  for (const text of ["", "image", "is:spec", "by:people", "is:status by:people kubectl image", "trailing "])
    assert.equal(formatFilter(parseFilter(text)), text);
  assert.deepEqual(parseFilter("image is:spec"), { text: "image", part: "spec", peopleOnly: false });
});

void test("a filter by part does not hide creation, deletion and missed changes", () => {
  const all = [specChange(), change([], "gc", "delete")];
  assert.equal(draw(all, filterOf("", { part: "status" })), "delete");
});

void test("field managers distinguish changes by people from changes by programs", () => {
  const by = (manager: string, subresource = ""): boolean =>
    isByPeople({ manager, subresource, operation: "Update", time: "" });
  const file = "../internal/watch/fieldmanager/testdata/managers.json";
  const { people, controllers } = JSON.parse(readFileSync(file, "utf8")) as { people: string[]; controllers: string[] };
  assert.ok(people.length > 0 && controllers.length > 0);
  for (const manager of people) assert.equal(by(manager), true, manager);
  for (const manager of controllers) assert.equal(by(manager), false, manager);
  assert.equal(by("argocd-controller", "status"), false);
});

void test("missed changes are never minor, and ignore counters of masked values", () => {
  const secret = (rv: string, value: string, type: string) => ({
    metadata: { uid: "u", resourceVersion: rv },
    type,
    data: { a: value },
  });
  const history = new History();
  history.applySnapshot(secret("1", "(masked, change 3)", "x"), "2026-11-21T10:00:00Z", []);
  history.applySnapshot(secret("2", "(masked)", "y"), "2026-11-21T11:00:00Z", []);
  const read = (filter: string) =>
    new Timeline()
      .read(history.steps, filterOf(filter), 9)
      .groups.map((g) => [g[0].isMinor, ...g[0].fields.map((f) => f.pathText)]);
  assert.deepEqual(read(""), [[false, "metadata.resourceVersion", "type"]]);
  assert.deepEqual(read("type"), [[false, "type"]]);
  assert.deepEqual(read("missed"), [[false, "metadata.resourceVersion", "type"]]);
  assert.deepEqual(read("kubelet"), []);
  history.applySnapshot(null, "2026-11-21T12:00:00Z", []);
  assert.deepEqual(read("")[0], [false], "a gap is not minor, even if the versions around it are equal");
});

void test("the compare page ignores identity and status fields on request", () => {
  const o = {
    kind: "Pod",
    metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "t", generation: 2 },
    spec: { uid: "stays" },
    status: { observedGeneration: 2, phase: "Running" },
  };
  assert.deepEqual(withoutFields(o, parseIgnored(null)), {
    kind: "Pod",
    metadata: { name: "a" },
    spec: { uid: "stays" },
    status: { phase: "Running" },
  });
  assert.deepEqual(withoutFields(o, parseIgnored("status")), { kind: "Pod", metadata: o.metadata, spec: o.spec });
  assert.deepEqual(withoutFields(o, parseIgnored("none")), o);
  for (const text of ["none", "status", "identity,status"]) assert.equal(formatIgnored(parseIgnored(text)), text);
  assert.equal(formatIgnored(parseIgnored(null)), null);
});
