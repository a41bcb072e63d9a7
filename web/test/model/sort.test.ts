// Invariant: I9.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compareRanks, rank } from "../../static/src/model/sort.ts";
import type { Cell } from "../../static/src/net/wire.ts";

// The Go tests read the same file, so that server and page sort equally.
interface Order {
  name: string;
  relative: boolean;
  cells: Cell[];
}
const orders = JSON.parse(readFileSync("../internal/web/testdata/ranks.json", "utf8")) as Order[];

for (const { name, relative, cells: want } of orders) {
  void test(name, () => {
    const before = [...want].reverse();
    const sorted = (descending: boolean): Cell[] =>
      before
        .map((c) => ({ c, r: rank(c, { relative }) }))
        .sort((a, b) => compareRanks(a.r, b.r, descending))
        .map((x) => x.c);
    const known = want.filter((c) => rank(c, { relative }) !== null);
    const unknown = before.filter((c) => rank(c, { relative }) === null);
    assert.deepEqual(sorted(false), [...known, ...unknown]);
    // Unknown values are last in both orders.
    assert.deepEqual(sorted(true), [...known.reverse(), ...unknown]);
  });
}
