import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, parse } from "../static/src/decode.ts";
import type { Spec } from "../static/src/wire.ts";

const views = new Map<number, Spec["view"]>([[1, "rows"], [2, "object"], [3, "changes"], [4, "resources"]]);
const read = (frame: unknown): ReturnType<typeof decode> => decode(typeof frame === "string" ? frame : JSON.stringify(frame), (id) => views.get(id) ?? null);
const row = { ns: "big", name: "web-1", uid: "u", rv: "811", created: "2026-11-21T10:00:00Z", cells: ["web-1", 1, true, null] };

const by = { manager: "kubelet", operation: "Update", subresource: "status", time: "2026-11-21T10:00:00Z" };
const patch = [{ op: "replace", path: "/a", value: 1 }, { op: "remove", path: "/b" }];

void test("one message or several share a frame", () => {
  const beat = { id: 1, type: "heartbeat", cursor: "c" };
  assert.equal(read(beat).messages.length, 1);
  assert.deepEqual(read([beat, beat]).messages.map((m) => m.type), ["heartbeat", "heartbeat"]);
});

void test("a snapshot of rows", () => {
  const { messages, faults } = read({ id: 1, type: "snapshot", cursor: "c", columns: [{ name: "Age", type: "string", relative: true }], rows: [row], last: true });
  assert.deepEqual(faults, []);
  assert.deepEqual(messages, [{ id: 1, type: "rows", cursor: "c", columns: [{ name: "Age", type: "string", format: "", priority: 0, relative: true }], rows: [row], last: true }]);
});

void test("a chunk without columns, and one of a cluster-scoped kind", () => {
  const [m] = read({ id: 1, type: "snapshot", rows: [{ name: "n", uid: "u", rv: "1", cells: [] }] }).messages;
  assert.ok(m?.type === "rows" && m.columns === null && !m.last && m.rows[0]?.ns === "");
});

void test("an object that is not there", () => {
  const [m] = read({ id: 2, type: "snapshot", cursor: "c", last: true }).messages;
  assert.ok(m?.type === "object" && m.object === null);
});

void test("events of rows", () => {
  const [m] = read({ id: 1, type: "events", cursor: "c", events: [{ op: "add", row }, { op: "update", ns: "big", name: "web-1", uid: "u", rv: "2", cells: { 2: "Running" }, by }, { op: "delete", ns: "big", name: "web-1", uid: "u" }] }).messages;
  assert.ok(m?.type === "row-events");
  assert.deepEqual(m.events.map((e) => e.op), ["add", "update", "delete"]);
  const update = m.events[1];
  assert.ok(update?.op === "update" && update.cells.get(2) === "Running");
  assert.deepEqual(update.by, by);
});

void test("who owns which operations of a patch", () => {
  const authors = [{ ...by, ops: [1] }, { ...by, manager: "kubectl", ops: [0] }];
  const [m] = read({ id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", rv: "2", patch, by, authors }, { op: "update", uid: "u", rv: "3", patch, by }] }).messages;
  assert.ok(m?.type === "object-events");
  const [first, second] = m.events;
  assert.ok(first?.op === "update" && second?.op === "update");
  assert.deepEqual(first.authors, authors);
  assert.equal("authors" in second, false);
});

void test("the activity feed", () => {
  const update = { op: "update", ns: "shop", name: "web-1", uid: "u", rv: "812", time: "2026-11-21T10:00:01Z", patch, by, authors: [{ ...by, ops: [0, 1] }] };
  const gone = { op: "delete", ns: "shop", name: "web-2", uid: "v", rv: "813", time: "2026-11-21T10:00:02Z" };
  const made = { ...gone, op: "add", object: { kind: "Pod" } };
  const { messages, faults } = read([
    { id: 3, type: "snapshot", cursor: "c1", since: "2026-11-21T09:55:00Z", events: [update], last: true, object: { kind: "Pod" } },
    { id: 3, type: "events", cursor: "c2", events: [gone, made] },
    { id: 3, type: "snapshot", cursor: "c3", since: "2026-11-21T09:55:00Z", last: true },
  ]);
  assert.deepEqual(faults, []);
  assert.deepEqual(messages, [
    { id: 3, type: "changes", cursor: "c1", since: "2026-11-21T09:55:00Z", object: { kind: "Pod" }, events: [update] },
    { id: 3, type: "change-events", cursor: "c2", events: [{ ...gone, patch: [] }, { ...made, patch: [] }] },
    { id: 3, type: "changes", cursor: "c3", since: "2026-11-21T09:55:00Z", object: null, events: [] },
  ]);
});

void test("resources, and a digest", () => {
  const pods = { group: "core", version: "v1", resource: "pods", kind: "Pod", namespaced: true, verbs: ["list"], preferred: true, ref: "core/v1/pods", section: "Workloads" };
  const [resources, digest] = read([{ id: 4, type: "resources", resources: [pods], problems: [{ group: "metrics.k8s.io", version: "v1", reason: "away" }] }, { id: 1, type: "digest", cursor: "c", count: 2, digest: "00ab12ef" }]).messages;
  assert.ok(resources?.type === "resources" && digest?.type === "digest");
  assert.deepEqual([resources.kinds.map((k) => k.ref), [...resources.problems]], [["core/v1/pods"], [["metrics.k8s.io", "away"]]]);
  assert.deepEqual(digest, { id: 1, type: "digest", cursor: "c", count: 2, digest: "00ab12ef" });
});

void test("a state tells what is covered, where that is not all", () => {
  const [all, some] = read([{ id: 1, type: "state", state: "live" }, { id: 1, type: "state", state: "live", namespaces: ["shop"] }]).messages;
  assert.ok(all?.type === "state" && some?.type === "state");
  assert.deepEqual([all.namespaces, some.namespaces], [[], ["shop"]]);
});

void test("unknown types, foreign subscriptions and unknown fields are passed over", () => {
  assert.deepEqual(read({ id: 1, type: "weather", sky: "blue" }), { messages: [], faults: [] });
  assert.deepEqual(read({ id: 9, type: "events", cursor: 7 }), { messages: [], faults: [] });
  assert.equal(read({ id: 1, type: "heartbeat", cursor: "c", more: [] }).messages.length, 1);
});

const malformed: [string, unknown, number | null][] = [
  ["no JSON", "{", null],
  ["no object", 7, null],
  ["null in a frame", [null], null],
  ["no type", { id: 1 }, 1],
  ["no id", { type: "heartbeat", cursor: "" }, null],
  ["a text for an id", { id: "1", type: "heartbeat" }, null],
  ["rows that are no list", { id: 1, type: "snapshot", rows: {} }, 1],
  ["a row without a name", { id: 1, type: "snapshot", rows: [{ cells: [] }] }, 1],
  ["a row without cells", { id: 1, type: "snapshot", rows: [{ name: "a" }] }, 1],
  ["a name that is a number", { id: 1, type: "events", cursor: "c", events: [{ op: "delete", name: 7 }] }, 1],
  ["events without a cursor", { id: 1, type: "events", events: [] }, 1],
  ["an unknown op", { id: 1, type: "events", cursor: "c", events: [{ op: "explode" }] }, 1],
  ["a cell's index that is no number", { id: 1, type: "events", cursor: "c", events: [{ op: "update", name: "a", uid: "u", cells: { __proto__x: 1 } }] }, 1],
  ["an unknown state", { id: 1, type: "state", state: "fine" }, 1],
  ["a patch path that is none", { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [{ op: "remove", path: "a" }] }] }, 2],
  ["a patch without a value", { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [{ op: "add", path: "/a" }] }] }, 2],
  ["authors that are no list", { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch, authors: {} }] }, 2],
  ["an author of an operation that is not there", { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch, authors: [{ ops: [2] }] }] }, 2],
  ["an author of half an operation", { id: 3, type: "events", cursor: "c", events: [{ op: "update", name: "a", uid: "u", patch, authors: [{ ops: [0.5] }] }] }, 3],
  ["an update without its patch", { id: 3, type: "events", cursor: "c", events: [{ op: "update", name: "a", uid: "u" }] }, 3],
  ["a change with an unknown op", { id: 3, type: "events", cursor: "c", events: [{ op: "explode", name: "a", uid: "u" }] }, 3],
  ["a change of nothing", { id: 3, type: "snapshot", cursor: "c", events: [{ op: "add", uid: "u" }], last: true }, 3],
  ["namespaces that are no list", { id: 1, type: "state", state: "live", namespaces: "shop" }, 1],
  ["a namespace that is a number", { id: 1, type: "state", state: "live", namespaces: [7] }, 1],
  ["resources that are no list", { id: 4, type: "resources", resources: {} }, 4],
  ["a digest of 7 digits", { id: 1, type: "digest", cursor: "c", count: 1, digest: "0ab12ef" }, 1],
  ["a digest without a count", { id: 1, type: "digest", cursor: "c", digest: "00ab12ef" }, 1],
  ["an object that is a list", { id: 2, type: "snapshot", cursor: "c", object: [] }, 2],
];
for (const [name, frame, id] of malformed) {
  void test(`malformed: ${name}`, () => {
    const { messages, faults } = read(frame);
    assert.deepEqual(messages, []);
    assert.deepEqual(faults.map((f) => f.id), [id]);
  });
}

void test("one malformed message does not spoil its neighbours", () => {
  const beat = { id: 1, type: "heartbeat", cursor: "c" };
  const { messages, faults } = read([beat, { id: 1, type: "state" }, beat]);
  assert.equal(messages.length, 2);
  assert.equal(faults.length, 1);
});

void test("long whole numbers are numbers still", () => {
  const v = parse('{"a":[12345678901234567890, 7],"b":"12345678901234567890"}') as { a: unknown[]; b: unknown };
  // Node 20 does not tell the source of a number; browsers do.
  assert.ok(v.a[0] === 12345678901234567890n || v.a[0] === 12345678901234567000);
  assert.equal(v.a[1], 7);
  assert.equal(v.b, "12345678901234567890");
});
