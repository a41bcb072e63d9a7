// Invariant: I41.

import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../../static/src/model/history.ts";
import { valueAt } from "../../static/src/model/paths.ts";
import type { Change, PatchOp, JsonObject } from "../../static/src/net/wire.ts";

const object = (phase: string, uid = "u"): JsonObject => ({ metadata: { uid }, status: { phase } });
let second = 0;
const change = (op: Change["op"], more: Partial<Change> = {}): Change => ({
  op,
  ns: "a",
  name: "p",
  uid: "u",
  rv: "",
  time: new Date(++second * 1000).toISOString(),
  patch: [],
  ...more,
});
const phase = (to: string): Change =>
  change("update", { patch: [{ op: "replace", path: "/status/phase", value: to }] });
const states = (h: History): string[] =>
  h.steps.map(
    (s) =>
      `${String(valueAt(s.before, ["status", "phase"]) ?? "-")} ${s.change.op} ${String(
        valueAt(s.after, ["status", "phase"]) ?? "-",
      )}`,
  );

void test("each change has the object before and after it", () => {
  const h = new History();
  assert.ok(h.applySnapshot(object("1"), "t", [phase("2"), phase("3")]));
  assert.ok(
    h.add([change("delete"), change("add", { uid: "v", object: object("new", "v") }), { ...phase("4"), uid: "v" }]),
  );
  assert.deepEqual(states(h), ["1 update 2", "2 update 3", "3 delete -", "- add new", "new update 4"]);
  assert.deepEqual([h.since, h.steps.map((s) => s.number)], ["t", [0, 1, 2, 3, 4]]);
});

void test("versions that the server never sent are unknown until it sends them", () => {
  const h = new History();
  assert.ok(
    h.applySnapshot(null, "t", [phase("2"), change("delete"), change("add", { object: object("3") }), phase("4")]),
  );
  assert.deepEqual(states(h), ["- update -", "- delete -", "- add 3", "3 update 4"]);
  assert.ok(h.applySnapshot(object("1", "another"), "t", [phase("2")]));
  assert.deepEqual(states(h), ["- update -"], "a patch is applied only to the object with its UID");
});

void test("a patch that does not apply is detected", () => {
  const h = new History();
  const odd: PatchOp[] = [{ op: "remove", path: "/spec/no/such/place" }];
  assert.equal(h.applySnapshot(object("1"), "t", [change("update", { patch: odd })]), false);
});

const versioned = (rv: string, to: string, uid = "u"): JsonObject => ({
  metadata: { uid, resourceVersion: rv },
  status: { phase: to },
});
const step = (rv: string, to: string): Change =>
  change("update", {
    rv,
    patch: [
      { op: "replace", path: "/metadata/resourceVersion", value: rv },
      { op: "replace", path: "/status/phase", value: to },
    ],
  });
const statesWithGaps = (h: History): string[] => states(h).map((s, i) => (h.steps[i]?.isGap ? `missed ${s}` : s));
const [before, after] = ["2026-11-21T10:00:00.5Z", "2026-11-21T11:00:00Z"];
const began = (): History => {
  const h = new History();
  assert.ok(h.applySnapshot(versioned("1", "1"), before, [step("2", "2"), step("3", "3")]));
  return h;
};

void test("after a server restart, the history keeps its steps and marks a gap for missed changes", () => {
  const h = began();
  assert.ok(h.applySnapshot(versioned("5", "5"), after, [step("6", "6")]));
  assert.deepEqual(
    [statesWithGaps(h), h.since],
    [["1 update 2", "2 update 3", "missed 3 update 5", "5 update 6"], before],
  );
  assert.ok(h.applySnapshot(versioned("6", "6"), "2026-11-21T12:00:00Z", []));
  assert.equal(statesWithGaps(h).length, 4, "no gap is recorded if the version is the same");
  assert.ok(h.applySnapshot(versioned("8", "8"), "2026-11-21T13:00:00Z", []));
  assert.ok(h.applySnapshot(versioned("9", "9"), "2026-11-21T14:00:00Z", []));
  assert.deepEqual(
    statesWithGaps(h).slice(3),
    ["5 update 6", "missed 6 update 9"],
    "two consecutive gaps are recorded as one",
  );
  const none = new History();
  none.applySnapshot(versioned("1", "1"), before, []);
  assert.ok(none.applySnapshot(versioned("4", "4"), after, []));
  assert.deepEqual(statesWithGaps(none), ["missed 1 update 4"]);
});

void test("repeated changes are stored once", () => {
  const h = began();
  assert.ok(h.applySnapshot(versioned("2", "2"), after, [step("3", "3"), step("4", "4")]));
  assert.deepEqual(statesWithGaps(h), ["1 update 2", "2 update 3", "3 update 4"]);
  assert.ok(
    h.applySnapshot(versioned("1", "1"), before, [step("2", "2"), step("3", "3"), step("4", "4"), step("5", "5")]),
  );
  assert.deepEqual(
    statesWithGaps(h),
    ["1 update 2", "2 update 3", "3 update 4", "4 update 5"],
    "a history that includes all received changes replaces them",
  );
  h.clear();
  assert.deepEqual([h.steps, h.since], [[], ""]);
  assert.ok(h.applySnapshot(versioned("7", "7"), after, []));
  assert.deepEqual(statesWithGaps(h), []);
});

void test("an object deleted or replaced during a gap is recorded", () => {
  const gone = began();
  assert.ok(gone.applySnapshot(null, after, []));
  assert.deepEqual(statesWithGaps(gone).slice(2), ["missed 3 update -"]);
  assert.ok(gone.applySnapshot(versioned("4", "4"), "2026-11-21T12:00:00Z", []));
  assert.ok(gone.applySnapshot(null, "2026-11-21T13:00:00Z", []));
  assert.ok(gone.applySnapshot(null, "2026-11-21T14:00:00Z", []));
  assert.deepEqual(
    statesWithGaps(gone).slice(2),
    ["missed 3 update 4", "missed 4 update -"],
    "the received history stays",
  );
  assert.ok(
    gone.applySnapshot(null, "2026-11-21T15:00:00Z", [change("add", { rv: "9", object: versioned("9", "9", "v") })]),
  );
  assert.deepEqual(statesWithGaps(gone).slice(2), ["missed 3 update 4", "missed 4 update -", "- add 9"]);
  const otherObject = began();
  assert.ok(otherObject.applySnapshot(versioned("9", "9", "v"), after, []));
  assert.deepEqual(statesWithGaps(otherObject).slice(2), ["missed 3 update 9"]);
});

void test("the history is bounded and reports its start", () => {
  const h = new History();
  h.applySnapshot(object("0"), "t", []);
  const all = Array.from({ length: 1500 }, (_, i) => phase(String(i)));
  for (let i = 0; i < all.length; i += 100) h.add(all.slice(i, i + 100));
  assert.deepEqual([h.steps.length, h.since, states(h)[0]], [1000, all[499]?.time, "499 update 500"]);
});

void test("the history is bounded by memory, too, but always keeps the newest change", () => {
  const size = 1 << 20;
  const text = (n: number): string => String(n).padEnd(size, "x");
  const h = new History();
  h.applySnapshot(object(text(0)), "t", []);
  const all = Array.from({ length: 20 }, (_, i) => phase(text(i + 1)));
  for (const one of all) assert.ok(h.add([one]));
  assert.deepEqual([h.steps.length, h.since, h.steps.at(-1)?.number], [7, all[12]?.time, 19]);
  assert.ok(h.add([phase("x".repeat(20 * size))]));
  assert.deepEqual([h.steps.length, h.since], [1, all[19]?.time]);
  const wide = {
    metadata: { uid: "u" },
    status: { phase: "", ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])) },
  };
  assert.ok(
    h.applySnapshot(
      wide,
      "t",
      Array.from({ length: 1000 }, (_, i) => phase(String(i))),
    ),
  );
  assert.ok(
    h.steps.length > 50 && h.steps.length < 200,
    `each step has its own list of 5,000 items, so the history must be bounded: ${h.steps.length} steps`,
  );
});
