// Invariant: I36.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DUMP_SCHEMA, dump } from "js-yaml";
import { compareKeys } from "../../static/src/yaml/scalar.ts";
import { YamlWriter, type Line } from "../../static/src/yaml/writer.ts";
import type { JsonObject } from "../../static/src/net/wire.ts";

const write = async (object: JsonObject, by = new YamlWriter()): Promise<readonly Line[]> =>
  (await by.write(object, () => true)) ?? [];
const text = (lines: readonly Line[]): string => lines.map((l) => `${l.text}\n`).join("");

// A fixed seed makes failures reproducible.
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Case {
  readonly json: string;
  readonly yaml: string;
}
const cases = JSON.parse(readFileSync("test/yaml.json", "utf8")) as readonly Case[];

// The Go test TestPageYAMLParsesWithKubectlsParser reads the same file.
void test("the writer produces the expected YAML for each test case", async () => {
  for (const c of cases) assert.equal(text(await write(parse(c.json))), c.yaml, c.json.slice(0, 200));
});

function parse(json: string): JsonObject {
  return JSON.parse(json.replace(/([:[,])(-?\d{16,})(?=[,\]}])/g, '$1"big:$2"'), (_, v: unknown) =>
    typeof v === "string" && v.startsWith("big:") ? BigInt(v.slice(4)) : v,
  ) as JsonObject;
}

void test("the writer's output equals that of js-yaml", async () => {
  const below = random(7);
  const strings = [
    "",
    "yes",
    "N",
    "0x1F",
    "1e3",
    "08",
    "<<",
    "=",
    "~",
    "2026-11-21",
    " lead",
    "trail ",
    "cr\r\nlf",
    "a: b",
    "a #b",
    "- a",
    "'q'",
    "one\ntwo",
    "one\ntwo\n",
    "one\n\n\n",
    "\n",
    "\nx",
    " x\ny",
    "x\n y\n",
    "x \ny",
    "a\n \nb",
    "#a\nb",
    "{}",
    "a:",
    "a:b",
    "http://x/y",
    "x".repeat(3000),
    "b\n".repeat(1500),
    "plain",
  ];
  const pick = (): string => strings[below(strings.length)] ?? "";
  const value = (depth: number): unknown => {
    const kind = below(depth === 0 ? 2 : 4);
    if (kind === 0) return pick();
    if (kind === 1) return [0, -1, 1.5, 1e21, true, false, null, {}, []][below(9)];
    if (kind === 2) return Array.from({ length: below(4) }, () => value(depth - 1));
    return Object.fromEntries(
      Array.from({ length: below(5) }, () => [below(2) === 0 ? pick() : `key${below(20)}`, value(depth - 1)]),
    );
  };
  for (let i = 0; i < 2000; i++) {
    const object = { a: value(4), [pick()]: value(3), zz: 0 };
    const lines = await write(object);
    assert.equal(
      text(lines),
      dump(object, {
        schema: DUMP_SCHEMA,
        lineWidth: -1,
        noRefs: true,
        sortKeys: compareKeys,
        seqNoIndent: true,
        quoteStyle: "double",
      }),
    );
    for (const l of lines)
      if (l.to > 0) assert.ok(l.text.slice(l.to).startsWith(":") && l.text.slice(l.from, l.to).trim() !== "", l.text);
  }
});

void test("an update writes only changed parts, with the same result as a full write", async () => {
  const by = new YamlWriter();
  const long = "l\n".repeat(2000);
  const kept = { deep: [{ a: 1 }, { b: [long] }] };
  const before = await write({ kept, other: { long, size: 1 } }, by);
  const next = { kept, other: { long, size: 2 }, added: "x" };
  const after = await write(next, by);
  assert.equal(text(after), text(await write(next)));
  const known = new Set(before);
  assert.deepEqual(
    after.filter((l) => !known.has(l)).map((l) => l.text),
    ["added: x", "kept:", "other:", "  long: |", "  size: 2"],
  );
});

void test("a long write pauses, and stops when it is no longer needed", async () => {
  const object = { items: Array.from({ length: 50 }, (_, i) => ({ name: `n${i}` })) };
  let pauses = 0;
  await new YamlWriter().write(object, () => {
    pauses++;
    return Promise.resolve(true);
  });
  assert.ok(pauses >= 50, `${pauses} parts`);
  assert.equal(await new YamlWriter().write(object, () => Promise.resolve(false)), null);
});

void test("a fold hides the nested lines", async () => {
  const lines = await write({
    spec: { containers: [{ args: ["a", "b"], name: "x" }, "plain"], text: "one\ntwo\n" },
    kind: "A",
  });
  assert.deepEqual(
    lines.map((l) => [l.text, l.nestedCount]),
    [
      ["kind: A", 0],
      ["spec:", 9],
      ["  containers:", 5],
      ["  - args:", 3],
      ["    - a", 0],
      ["    - b", 0],
      ["    name: x", 0],
      ["  - plain", 0],
      ["  text: |", 2],
      ["    one", 0],
      ["    two", 0],
    ],
  );
});
