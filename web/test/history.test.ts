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
  const wide = { metadata: { uid: "u" }, status: { phase: "", ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])) } };
  assert.ok(h.begin(wide, "t", Array.from({ length: 1000 }, (_, i) => phase(String(i)))));
  assert.ok(h.steps.length > 50 && h.steps.length < 200, `each step has a list of 5,000 of its own: ${h.steps.length}`);
});
