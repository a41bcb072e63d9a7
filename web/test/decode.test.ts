import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, parse } from "../static/src/decode.ts";
import type { Spec } from "../static/src/wire.ts";

const views = new Map<number, Spec["view"]>([[1, "rows"], [2, "object"]]);
const read = (frame: unknown): ReturnType<typeof decode> => decode(typeof frame === "string" ? frame : JSON.stringify(frame), (id) => views.get(id) ?? null);
const row = { ns: "big", name: "web-1", uid: "u", rv: "811", created: "2026-11-21T10:00:00Z", cells: ["web-1", 1, true, null] };

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
  const by = { manager: "kubelet", operation: "Update", subresource: "status", time: "2026-11-21T10:00:00Z" };
  const [m] = read({ id: 1, type: "events", cursor: "c", events: [{ op: "add", row }, { op: "update", ns: "big", name: "web-1", uid: "u", rv: "2", cells: { 2: "Running" }, by }, { op: "delete", ns: "big", name: "web-1", uid: "u" }] }).messages;
  assert.ok(m?.type === "row-events");
  assert.deepEqual(m.events.map((e) => e.op), ["add", "update", "delete"]);
  const update = m.events[1];
  assert.ok(update?.op === "update" && update.cells.get(2) === "Running");
  assert.deepEqual(update.by, by);
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
