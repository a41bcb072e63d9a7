import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../static/src/history.ts";
import { at } from "../static/src/paths.ts";
import type { Change, PatchOp, Tree } from "../static/src/wire.ts";

const object = (phase: string, uid = "u"): Tree => ({ metadata: { uid }, status: { phase } });
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
      `${String(at(s.before, ["status", "phase"]) ?? "-")} ${s.change.op} ${
        String(at(s.after, ["status", "phase"]) ?? "-")
      }`,
  );

void test("each change has the object before and after it", () => {
  const h = new History();
  assert.ok(h.begin(object("1"), "t", [phase("2"), phase("3")]));
  assert.ok(
    h.add([change("delete"), change("add", { uid: "v", object: object("anew", "v") }), { ...phase("4"), uid: "v" }]),
  );
  assert.deepEqual(states(h), ["1 update 2", "2 update 3", "3 delete -", "- add anew", "anew update 4"]);
  assert.deepEqual([h.since, h.steps.map((s) => s.number)], ["t", [0, 1, 2, 3, 4]]);
});

void test("what was never told is not known, until it is", () => {
  const h = new History();
  assert.ok(h.begin(null, "t", [phase("2"), change("delete"), change("add", { object: object("3") }), phase("4")]));
  assert.deepEqual(states(h), ["- update -", "- delete -", "- add 3", "3 update 4"]);
  assert.ok(h.begin(object("1", "another"), "t", [phase("2")]));
  assert.deepEqual(states(h), ["- update -"], "a patch is of its own object alone");
});

void test("a patch that does not fit is noticed", () => {
  const h = new History();
  const odd: PatchOp[] = [{ op: "remove", path: "/spec/no/such/place" }];
  assert.equal(h.begin(object("1"), "t", [change("update", { patch: odd })]), false);
});

const versioned = (rv: string, to: string, uid = "u"): Tree => ({
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
const told = (h: History): string[] => states(h).map((s, i) => (h.steps[i]?.missed ? `missed ${s}` : s));
const [before, after] = ["2026-11-21T10:00:00.5Z", "2026-11-21T11:00:00Z"];
const began = (): History => {
  const h = new History();
  assert.ok(h.begin(versioned("1", "1"), before, [step("2", "2"), step("3", "3")]));
  return h;
};

void test("what is held of the time before a server begins anew stays, with what was missed", () => {
  const h = began();
  assert.ok(h.begin(versioned("5", "5"), after, [step("6", "6")]));
  assert.deepEqual([told(h), h.since], [["1 update 2", "2 update 3", "missed 3 update 5", "5 update 6"], before]);
  assert.ok(h.begin(versioned("6", "6"), "2026-11-21T12:00:00Z", []));
  assert.equal(told(h).length, 4, "it is the same: nothing was missed");
  assert.ok(h.begin(versioned("8", "8"), "2026-11-21T13:00:00Z", []));
  assert.ok(h.begin(versioned("9", "9"), "2026-11-21T14:00:00Z", []));
  assert.deepEqual(told(h).slice(3), ["5 update 6", "missed 6 update 9"], "once for what was missed twice");
  const none = new History();
  none.begin(versioned("1", "1"), before, []);
  assert.ok(none.begin(versioned("4", "4"), after, []));
  assert.deepEqual(told(none), ["missed 1 update 4"]);
});

void test("what is told again is there once", () => {
  const h = began();
  assert.ok(h.begin(versioned("2", "2"), after, [step("3", "3"), step("4", "4")]));
  assert.deepEqual(told(h), ["1 update 2", "2 update 3", "3 update 4"]);
  assert.ok(h.begin(versioned("1", "1"), before, [step("2", "2"), step("3", "3"), step("4", "4"), step("5", "5")]));
  assert.deepEqual(
    told(h),
    ["1 update 2", "2 update 3", "3 update 4", "4 update 5"],
    "a past that reaches as far takes its place",
  );
  h.forget();
  assert.deepEqual([h.steps, h.since], [[], ""]);
  assert.ok(h.begin(versioned("7", "7"), after, []));
  assert.deepEqual(told(h), []);
});

void test("an object that went, or is another, while nothing was told", () => {
  const gone = began();
  assert.ok(gone.begin(null, after, []));
  assert.deepEqual(told(gone).slice(2), ["missed 3 update -"]);
  assert.ok(gone.begin(versioned("4", "4"), "2026-11-21T12:00:00Z", []));
  assert.ok(gone.begin(null, "2026-11-21T13:00:00Z", []));
  assert.ok(gone.begin(null, "2026-11-21T14:00:00Z", []));
  assert.deepEqual(told(gone).slice(2), ["missed 3 update 4", "missed 4 update -"], "what was told of it stays");
  assert.ok(gone.begin(null, "2026-11-21T15:00:00Z", [change("add", { rv: "9", object: versioned("9", "9", "v") })]));
  assert.deepEqual(told(gone).slice(2), ["missed 3 update 4", "missed 4 update -", "- add 9"]);
  const another = began();
  assert.ok(another.begin(versioned("9", "9", "v"), after, []));
  assert.deepEqual(told(another).slice(2), ["missed 3 update 9"]);
});

void test("the past is bounded, and says how far it reaches", () => {
  const h = new History();
  h.begin(object("0"), "t", []);
  const all = Array.from({ length: 1500 }, (_, i) => phase(String(i)));
  for (let i = 0; i < all.length; i += 100) h.add(all.slice(i, i + 100));
  assert.deepEqual([h.steps.length, h.since, states(h)[0]], [1000, all[499]?.time, "499 update 500"]);
});

void test("the past is bounded by what it takes, too, and the newest change is always kept", () => {
  const size = 1 << 20;
  const text = (n: number): string => String(n).padEnd(size, "x");
  const h = new History();
  h.begin(object(text(0)), "t", []);
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
    h.begin(
      wide,
      "t",
      Array.from({ length: 1000 }, (_, i) => phase(String(i))),
    ),
  );
  assert.ok(h.steps.length > 50 && h.steps.length < 200, `each step has a list of 5,000 of its own: ${h.steps.length}`);
});
