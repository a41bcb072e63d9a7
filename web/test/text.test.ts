import assert from "node:assert/strict";
import { test } from "node:test";
import { aligned } from "../static/src/diff.ts";
import { readKinds, readProblems } from "../static/src/kinds.ts";
import { status, type Known } from "../static/src/status.ts";
import { states } from "../static/src/wire.ts";
import { keyEnds, yamlLines } from "../static/src/yaml.ts";

const changed = (before: string, next: string): string => [...aligned([...before], [...next])].map((from, i) => (from < 0 ? next[i] : ".")).join("");
for (const [before, next, want] of [["abc", "abc", "..."], ["abc", "axc", ".x."], ["abc", "abxc", "..x."], ["abxc", "abc", "..."], ["abcdef", "acbdxf", "..b.x."], ["", "ab", "ab"], ["ab", "", ""]] as const) {
  void test(`lines of ${before} in ${next}`, () => {
    const marks = changed(before, next);
    // Of two lines that changed places either may be the one that moved.
    assert.ok(marks === want || (before === "abcdef" && marks === ".c..x."), marks);
  });
}

void test("YAML as kubectl prints it, and strings that stay strings", () => {
  const lines = yamlLines({ kind: "A", a: ["x", { b: 1, c: "1" }], big: 12345678901234567890n, yes: "yes", text: "one\ntwo: 2\n", empty: {}, none: null });
  assert.deepEqual(lines, ["a:", "- x", "- b: 1", '  c: "1"', "big: 12345678901234567890", "empty: {}", "kind: A", "none: null", "text: |", "  one", "  two: 2", '"yes": "yes"']);
});

void test("keys are found, but not in texts", () => {
  const lines = ["a:", "  b.c/d: 1", "  - e: 2", "  text: |-", "    no: key", "", "    no: key", '  "f": x', "  - plain", "  url: http://x", "# g: 1"];
  assert.deepEqual(keyEnds(lines).map((end, i) => (lines[i] ?? "").slice(0, end).trim()), ["a:", "b.c/d:", "- e:", "text:", "", "", "", '"f":', "", "url:", ""]);
});

void test("live is said only while it is", () => {
  const whole: Known = { connection: "open", since: 0, state: { state: "live", since: "", reason: "", count: null }, complete: true, arriving: 0, problem: null };
  const live = (k: Partial<Known>): boolean => {
    const s = status({ ...whole, ...k }, 0);
    return s.tone === "live" || /live/i.test(s.words);
  };
  assert.equal(live({}), true);
  assert.equal(live({ connection: "lost" }), false);
  assert.equal(live({ connection: "connecting" }), false);
  assert.equal(live({ complete: false }), false);
  assert.equal(live({ state: null }), false);
  assert.equal(live({ problem: { title: "", status: 400, detail: "" } }), false);
  for (const state of states.filter((s) => s !== "live")) assert.equal(live({ state: { state, since: "", reason: "", count: null } }), false, state);
});

void test("kinds that can be listed, and groups that could not be read", () => {
  const pods = { group: "core", version: "v1", resource: "pods", kind: "Pod", namespaced: true, shortNames: ["po"], categories: ["all"], verbs: ["get", "list"], preferred: true, ref: "core/v1/pods", section: "Workloads", state: "live", count: 3 };
  const body = { resources: [pods, { ...pods, resource: "bindings", ref: "", verbs: ["create"] }, { ...pods, preferred: false }, { ...pods, group: "example.com", section: "", ref: "", count: undefined }, null, 7], problems: [{ group: "metrics.k8s.io", reason: "away" }, {}] };
  assert.deepEqual(readKinds(body).map((k) => [k.ref, k.section, k.count, k.words]), [["core/v1/pods", "Workloads", 3, "pod pods core po all"], ["example.com/v1/pods", "example.com", null, "pod pods example.com po all"]]);
  assert.deepEqual([...readProblems(body)], [["metrics.k8s.io", "away"]]);
  assert.deepEqual(readKinds("nonsense"), []);
});
