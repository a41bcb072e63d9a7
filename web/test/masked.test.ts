import assert from "node:assert/strict";
import { test } from "node:test";
import { masked } from "../static/src/masked.ts";
import type { Tree } from "../static/src/wire.ts";

void test("which objects hold masked values", () => {
  const secret = (more: Tree): Tree => ({ apiVersion: "v1", kind: "Secret", ...more });
  for (const [object, want] of [
    [secret({ data: { a: "(masked)" } }), true],
    [secret({ data: { a: "(masked, change 2)" } }), true],
    [secret({ stringData: { a: "(masked)" } }), true],
    [secret({ data: {} }), false],
    [secret({ data: null }), false],
    [secret({ type: "(masked)" }), false],
    [secret({ data: { a: "(masked) by hand" } }), false],
    [{ apiVersion: "v1", kind: "ConfigMap", data: { a: "(masked)" } }, false],
  ] as const) assert.equal(masked(object), want, JSON.stringify(object));
});
