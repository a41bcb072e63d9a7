import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../static/src/history.ts";
import { at } from "../static/src/paths.ts";
import type { Change, PatchOp, Tree } from "../static/src/wire.ts";

const object = (phase: string, uid = "u"): Tree => ({ metadata: { uid }, status: { phase } });
let second = 0;
const change = (op: Change["op"], more: Partial<Change> = {}): Change => ({ op, ns: "a", name: "p", uid: "u", rv: "", time: new Date(++second * 1000).toISOString(), patch: [], ...more });
const phase = (to: string): Change => change("update", { patch: [{ op: "replace", path: "/status/phase", value: to }] });
const states = (h: History): string[] => h.steps.map((s) => `${String(at(s.before, ["status", "phase"]) ?? "-")} ${s.change.op} ${String(at(s.after, ["status", "phase"]) ?? "-")}`);

void test("each change has the object before and after it", () => {
  const h = new History();
  assert.ok(h.begin(object("1"), "t", [phase("2"), phase("3")]));
  assert.ok(h.add([change("delete"), change("add", { uid: "v", object: object("anew", "v") }), { ...phase("4"), uid: "v" }]));
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

void test("the past is bounded, and says how far it reaches", () => {
  const h = new History();
  h.begin(object("0"), "t", []);
  const all = Array.from({ length: 1500 }, (_, i) => phase(String(i)));
  for (let i = 0; i < all.length; i += 100) h.add(all.slice(i, i + 100));
  assert.deepEqual([h.steps.length, h.since, states(h)[0]], [1000, all[499]?.time, "499 update 500"]);
});
