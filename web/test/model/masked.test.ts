// Invariant: I15.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isMasked, maskedText } from "../../static/src/model/masked.ts";
import type { JsonObject } from "../../static/src/net/wire.ts";

const secret = (more: JsonObject): JsonObject => ({ apiVersion: "v1", kind: "Secret", ...more });
const pod = (value: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  spec: { containers: [{ name: "c", env: [{ name: "A", value }] }] },
});

void test("isMasked recognizes masked values", () => {
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
  ] as const)
    assert.equal(isMasked(value), want, JSON.stringify(value));
});

void test("a comparison explains masked values", () => {
  const [s, p] = [secret({ data: { a: "(masked)" } }), pod("(masked)")];
  assert.match(maskedText([s, s]) ?? "", /^Values of Secrets are masked\. They are not compared/);
  for (const objects of [
    [p, p],
    [p, s],
  ])
    assert.match(maskedText(objects) ?? "", /^Some values are masked\. They are not compared/);
  for (const objects of [
    [p, pod("a")],
    [secret({}), s],
  ])
    assert.equal(maskedText(objects), null);
});
