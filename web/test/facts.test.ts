import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import type { Fact, Piece, Section } from "../static/src/facts/fact.ts";
import { factsOf } from "../static/src/facts/facts.ts";

// Formats facts as text: "web 2 of 4 [warn] | more". A link is "(ConfigMap shop/web)".
const said = (p: Piece): string =>
  `${p.text}${p.to === undefined ? "" : ` (${p.to.kind} ${p.to.ns === "" ? "" : `${p.to.ns}/`}${p.to.name})`}${
    p.tone === undefined ? "" : ` [${p.tone}]`
  }`;
const line = (f: Fact): string =>
  `${f.bar === undefined ? "" : `${f.bar.have}/${f.bar.want} `}${f.pieces.map(said).join(" | ")}`;
const facts = (list: readonly Fact[]): Record<string, string> => Object.fromEntries(list.map((f) => [f.key, line(f)]));
const told = (sections: readonly Section[]) =>
  Object.fromEntries(
    sections.map((s) => [
      s.key,
      {
        ...facts(s.facts),
        ...Object.fromEntries(
          s.items.map((i) => [
            i.key,
            { ...(i.head.length === 0 ? {} : { "": i.head.map(said).join(" | ") }), ...facts(i.facts) },
          ]),
        ),
      },
    ]),
  );

// Each file contains the expected facts, and their object.
for (const file of readdirSync("test/facts")) {
  void test(`the facts of ${file.replace(".yaml", "")}`, () => {
    const [want, object] = loadAll(readFileSync(`test/facts/${file}`, "utf8"));
    assert.deepEqual(told(factsOf(object)), want);
  });
}
