// Invariant: I36.

import assert from "node:assert/strict";
import { test } from "node:test";
import { alignLists } from "../../static/src/text/list-diff.ts";

// A fixed seed makes failures reproducible.
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

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
