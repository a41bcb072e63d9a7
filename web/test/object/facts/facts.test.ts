// Invariant: I37. The overview of an object shows facts that match the kind of the object. It can show an object with
// any JSON, and has a limited size. When the object changes, the overview changes and highlights only values that
// differ. It shows the chain of owners, up to an object without an owner. If the viewer cannot read an owner, the
// overview shows the reason instead. The page searches for references to and from the object only on request. It sorts
// events from new to old, and watches events only while they are visible.

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
  p.text + (p.target === undefined ? "" : targetText(p.target)) + (p.level === undefined ? "" : ` [${p.level}]`);
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
  void test(`the facts of ${file.replace(".yaml", "")} are those in its file`, () => {
    const [want, object] = loadAll(readFileSync(`test/facts/${file}`, "utf8"));
    assert.deepEqual(sectionTexts(factsOf(object)), want);
  });
}
