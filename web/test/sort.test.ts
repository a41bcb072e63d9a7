import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRanks, rank } from "../static/src/sort.ts";
import type { Cell } from "../static/src/wire.ts";

const orders: [string, boolean, Cell[]][] = [
  ["numbers", false, [-1, 0, 2, 10, null]],
  ["numbers as text", false, ["0", "2", "10", "<none>"]],
  ["restarts with times", true, ["0", "2 (2026-11-21T10:00:00Z ago)", "10 (2020-01-01T00:00:00Z ago)"]],
  ["ages: the youngest first", true, ["2026-11-21T10:00:00Z", "2026-11-21T09:59:59.5Z", "2020-01-01T00:00:00Z", "<unknown>"]],
  ["durations", false, ["59s", "2m", "119m", "3h5m", "2d3h", "8d", "2y"]],
  ["binary quantities", false, ["512Ki", "1Mi", "1000Mi", "1Gi", "1Ti"]],
  ["processor quantities", false, ["100u", "0.5", "1", "1500", "2k"]],
  ["readiness", false, ["0/3", "1/3", "1/2", "2/2"]],
  ["shares", false, ["5%", "30%", "100%"]],
  ["names as people count", false, ["node-1", "node-2", "node-10", "Node-11", "zone"]],
  ["truth", false, [false, true]],
  ["numbers before text, the unknown last", false, ["7", "many", ""]],
];

for (const [name, relative, want] of orders) {
  void test(name, () => {
    const sorted = (descending: boolean): Cell[] =>
      [...want].reverse().map((c) => ({ c, r: rank(c, { relative }) })).sort((a, b) => compareRanks(a.r, b.r, descending)).map((x) => x.c);
    assert.deepEqual(sorted(false), want);
    // Reversed, but for the unknown.
    const known = want.filter((c) => rank(c, { relative }) !== null);
    const unknown = want.filter((c) => rank(c, { relative }) === null);
    assert.deepEqual(sorted(true), [...known.reverse(), ...unknown]);
  });
}
