// Values of wrong types cause no errors.
//
// Invariant: I37.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { conditionsOf } from "../../../static/src/object/facts/conditions.ts";
import type { Fact, Piece } from "../../../static/src/object/facts/fact.ts";
import { factsOf } from "../../../static/src/object/facts/facts.ts";
import { annotationsOf, labelsOf, metaFacts, ownersOf } from "../../../static/src/object/facts/meta.ts";

const wrong: readonly unknown[] = [
  null,
  undefined,
  7,
  -1.5,
  10n ** 20n,
  "",
  "x",
  "2026-11-21T10:00:00Z",
  "2026-99-99T99:99:99Z",
  true,
  [],
  [null],
  [7, "x", {}, []],
  {},
  { constructor: 1, __proto__: null, length: -1 },
];
const isTree = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

function* spoilt(v: unknown): Generator<unknown> {
  if (Array.isArray(v))
    for (const [i, inner] of v.entries()) for (const w of [...spoilt(inner), ...wrong]) yield v.with(i, w);
  else if (isTree(v))
    for (const [k, inner] of Object.entries(v))
      for (const w of [...spoilt(inner), ...(k === "kind" || k === "apiVersion" ? [] : wrong)]) yield { ...v, [k]: w };
}

function check(object: unknown): void {
  const sections = factsOf(object);
  const lists: (readonly { readonly key: string }[])[] = [
    sections,
    metaFacts(object),
    conditionsOf(object),
    labelsOf(object),
    annotationsOf(object),
  ];
  const pieces: Piece[] = [];
  const facts = (list: readonly Fact[]): void => {
    lists.push(list);
    for (const f of list) {
      assert.ok(f.pieces.length > 0, `the fact ${f.key} has no text`);
      assert.ok(
        f.bar === undefined || (Number.isFinite(f.bar.actual) && f.bar.desired > 0),
        `${f.key} has a bar without a valid number`,
      );
      pieces.push(...f.pieces);
    }
  };
  facts(metaFacts(object));
  for (const s of sections) {
    lists.push(s.items, s.groups);
    facts(s.facts);
    for (const { cells } of s.table?.rows ?? []) {
      assert.equal(cells.length, s.table?.columns.length);
      pieces.push(...cells.filter((c) => c !== null));
    }
    if (s.table !== undefined) lists.push(s.table.rows);
    for (const i of s.items) {
      pieces.push(...i.head);
      facts(i.facts);
      lists.push(i.groups);
    }
    for (const g of [...s.groups, ...s.items.flatMap((i) => i.groups)]) facts(g.facts);
  }
  for (const p of pieces)
    assert.ok(
      typeof p.text === "string" && p.text !== "" && !/\bNaN\b|undefined|\[object/.test(p.text),
      JSON.stringify(p),
    );
  for (const list of lists)
    assert.equal(new Set(list.map((t) => t.key)).size, list.length, "the keys of a list are unique");
  ownersOf(object);
}

for (const file of readdirSync("test/facts")) {
  void test(`facts of ${file.replace(".yaml", "")} with a member of the wrong type cause no errors`, () => {
    const [, object] = loadAll(readFileSync(`test/facts/${file}`, "utf8"));
    let n = 0;
    for (const o of spoilt(object)) {
      check(o);
      n++;
    }
    assert.ok(n > 40, `only ${n} variants were tested`);
  });
}

void test("facts of arbitrary JSON cause no errors", () => {
  for (const w of wrong) check(w);
  const kinds = [
    "v1 Pod",
    "v1 Node",
    "v1 Secret",
    "apps/v1 Deployment",
    "v1 LimitRange",
    "v1 ResourceQuota",
    "x/v1 Thing",
    " ",
    "v1 toString",
    "/ constructor",
  ];
  for (const kind of kinds)
    for (const spec of wrong)
      for (const status of wrong)
        check({
          apiVersion: kind.split(" ")[0],
          kind: kind.split(" ")[1],
          metadata: spec,
          spec,
          status,
          data: status,
          rules: spec,
          Status: spec,
        });
});

void test("facts of a very large object stay bounded", () => {
  const many = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i));
  const text = "y".repeat(1_000_000);
  const size = (o: unknown): number => JSON.stringify(factsOf(o)).length;
  assert.ok(
    size({
      apiVersion: "x/v1",
      kind: "Thing",
      spec: {
        list: many(100_000, (i) => ({ i })),
        text,
        deep: Object.fromEntries(many(10_000, (i) => [`k${i}`, { text }])),
      },
    }) < 60_000,
  );
  assert.ok(
    size({
      apiVersion: "v1",
      kind: "ConfigMap",
      data: Object.fromEntries(many(5_000, (i) => [`key-${i}`, text.slice(0, 200)])),
    }) < 60_000,
  );
  assert.ok(
    size({ apiVersion: "v1", kind: "Pod", spec: { containers: many(10_000, (i) => ({ name: `c${i}` })) } }) < 60_000,
  );
});
