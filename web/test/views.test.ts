// The page filters and sorts rows like the server.
//
// Invariant: I9.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Rows } from "../static/src/model/rows.ts";
import type { Cell, Column, Severity } from "../static/src/net/wire.ts";
import { verdictOf } from "./verdicts.ts";

// The Go tests read the same file, so that server and page filter and sort equally.
interface Views {
  columns: { name: string; relative?: boolean }[];
  // Each row is an object. The Go tests create it with this phase, from which the server derives the severity.
  rows: { ns: string; name: string; phase: string; severity: Severity; cells: Cell[] }[];
  views: { q: string; sort: string; want: string[] }[];
}
const file = JSON.parse(readFileSync("../internal/web/testdata/views.json", "utf8")) as Views;

for (const { q, sort, want } of file.views) {
  void test(`rows filtered by ${JSON.stringify(q)} and sorted by ${sort === "" ? "the default order" : sort}`, () => {
    const rows = new Rows();
    if (sort !== "") rows.setSort({ column: sort.replace(/^-/, ""), descending: sort.startsWith("-") });
    rows.setFilter(q);
    const columns: Column[] = file.columns.map((c) => ({
      name: c.name,
      type: "",
      format: "",
      priority: 0,
      relative: c.relative === true,
    }));
    rows.apply({
      id: 1,
      type: "rows",
      cursor: "c",
      columns,
      rows: file.rows.map((r) => ({ ...r, uid: r.name, rv: "1", created: "", verdict: verdictOf(r.severity) })),
      last: true,
    });
    assert.deepEqual(
      rows.visible().map((e) => `${e.ns}/${e.name}`),
      want,
    );
  });
}
