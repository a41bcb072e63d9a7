// Invariant: I37. The overview of an object shows facts that match its kind. It accepts any JSON and has a limited
// size. An update changes and highlights only values that differ. The overview shows the owners up to the root owner.
// If an owner is unreadable, it shows the reason instead. Referenced objects are loaded on demand. Events are sorted
// from new to old, and watched only while visible.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import type { Fact, Group, Piece, Section, Table } from "../../../static/src/object/facts/fact.ts";
import { factsOf } from "../../../static/src/object/facts/facts.ts";

// These functions format facts as text, such as "web 2 of 4 [warn]", and links as "(ConfigMap shop/web)".
const targetText = ({ kind, ns, name }: NonNullable<Piece["target"]>): string =>
  ` (${kind} ${ns === "" ? "" : `${ns}/`}${name})`;
const pieceText = (p: Piece): string =>
  p.text + (p.target === undefined ? "" : targetText(p.target)) + (p.tone === undefined ? "" : ` [${p.tone}]`);
const line = (f: Fact): string =>
  `${f.bar === undefined ? "" : `${f.bar.actual}/${f.bar.desired} `}${f.pieces.map(pieceText).join(" | ")}`;
const facts = (list: readonly Fact[]): Record<string, string> => Object.fromEntries(list.map((f) => [f.key, line(f)]));
// The titles of groups are in angle brackets, because a fact can have the same name as a group.
const groups = (list: readonly Group[]) => Object.fromEntries(list.map((g) => [`<${g.title}>`, facts(g.facts)]));
const tableText = ({ columns, rows }: Table): Record<string, string> => ({
  "": columns.join(" | "),
  ...Object.fromEntries(rows.map((r) => [r.key, r.cells.map((c) => (c === null ? "-" : pieceText(c))).join(" | ")])),
});
const sectionTexts = (sections: readonly Section[]) =>
  Object.fromEntries(
    sections.map((s) => [
      s.key,
      {
        ...(s.table === undefined ? {} : tableText(s.table)),
        ...facts(s.facts),
        ...Object.fromEntries(
          s.items.map((i) => [
            i.key,
            {
              ...(i.head.length === 0 ? {} : { "": i.head.map(pieceText).join(" | ") }),
              ...facts(i.facts),
              ...groups(i.groups),
            },
          ]),
        ),
        ...groups(s.groups),
      },
    ]),
  );

for (const file of readdirSync("test/facts")) {
  void test(`facts of ${file.replace(".yaml", "")}`, () => {
    const [want, object] = loadAll(readFileSync(`test/facts/${file}`, "utf8"));
    assert.deepEqual(sectionTexts(factsOf(object)), want);
  });
}
