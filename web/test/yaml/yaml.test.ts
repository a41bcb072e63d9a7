// Invariant: I36.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DUMP_SCHEMA, dump } from "js-yaml";
import { alignLists } from "../../static/src/text/list-diff.ts";
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

void test("keys are sorted as by kubectl", () => {
  const order = [
    "-",
    ".",
    "_",
    "1",
    "2",
    "10",
    "A",
    "B2",
    "B10",
    "a",
    "a-1",
    "a.b",
    "a1",
    "a01",
    "a2",
    "a10",
    "a100",
    "a10b",
    "aB",
    "ab",
    "b",
  ];
  for (const [i, a] of order.entries())
    for (const [j, b] of order.entries()) assert.equal(Math.sign(compareKeys(a, b)), Math.sign(i - j), `${a} and ${b}`);
});

void test("alignLists finds the longest common subsequence", () => {
  const below = random(3);
  const longest = (a: string, b: string): number => {
    const row = new Array<number>(b.length + 1).fill(0);
    for (const x of a) {
      let diagonal = 0;
      for (let j = 1; j <= b.length; j++) {
        const above = row[j] ?? 0;
        row[j] = x === b[j - 1] ? diagonal + 1 : Math.max(above, row[j - 1] ?? 0);
        diagonal = above;
      }
    }
    return row[b.length] ?? 0;
  };
  const some = (): string => Array.from({ length: below(12) }, () => "abcd"[below(4)]).join("");
  for (let i = 0; i < 5000; i++) {
    const a = some();
    const b = some();
    const from = [...alignLists([...a], [...b])];
    const kept = from.filter((f) => f >= 0);
    for (const [j, f] of from.entries()) assert.ok(f < 0 || a[f] === b[j], `${a} ${b}`);
    assert.deepEqual(
      kept,
      [...new Set(kept)].sort((x, y) => x - y),
      `${a} ${b}`,
    );
    assert.equal(kept.length, longest(a, b), `${a} ${b}`);
  }
});

void test("very different texts are aligned by position", () => {
  const before = Array.from({ length: 5000 }, (_, i) => `a${i}`);
  const next = before.map((l, i) => (i % 2 === 0 ? `${l}!` : l));
  assert.equal([...alignLists(before, next)].filter((f) => f >= 0).length, 2500);
});
