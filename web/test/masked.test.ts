import assert from "node:assert/strict";
import { test } from "node:test";
import { masked, untold } from "../static/src/masked.ts";
import type { Tree } from "../static/src/wire.ts";

const secret = (more: Tree): Tree => ({ apiVersion: "v1", kind: "Secret", ...more });
const pod = (value: string): Tree => ({
  apiVersion: "v1",
  kind: "Pod",
  spec: { containers: [{ name: "c", env: [{ name: "A", value }] }] },
});

void test("which values are masked", () => {
  for (const [value, want] of [
    ["(masked)", true],
    ["(masked, change 2)", true],
    ["(masked, changed)", true],
    [secret({ data: { a: "(masked)" } }), true],
    [secret({ stringData: { a: "(masked, change 2)" } }), true],
    [pod("(masked)"), true],
    [pod("(masked, changed)"), true],
    [{ apiVersion: "v1", kind: "ConfigMap", data: { a: "(masked)" } }, true],
    [secret({ data: {} }), false],
    [secret({ data: null }), false],
    [secret({ data: { a: "(masked) by hand" } }), false],
    [secret({ data: { "(masked)": "" } }), false],
    [pod("masked"), false],
    [undefined, false],
  ] as const) assert.equal(masked(value), want, JSON.stringify(value));
});

void test("what a comparison does not tell is said in words that fit", () => {
  const [s, p] = [secret({ data: { a: "(masked)" } }), pod("(masked)")];
  assert.match(untold([s, s]) ?? "", /^Values of Secrets are masked\. They are not compared/);
  for (const objects of [
    [p, p],
    [p, s],
  ])
    assert.match(untold(objects) ?? "", /^Some values are masked\. They are not compared/);
  for (const objects of [[p, pod("a")], [secret({}), s]]) assert.equal(untold(objects), null);
});
