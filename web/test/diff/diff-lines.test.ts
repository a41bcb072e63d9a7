// Invariant: I42.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countDifferences,
  pairLinesInSteps,
  pairLines,
  runs,
  markWords,
  type Pair,
  type MarkedText,
} from "../../static/src/diff/diff-lines.ts";
import { TimeSlicer } from "../../static/src/text/time-slice.ts";

const lines = (text: string): string[] => text.split(" ").filter((l) => l !== "");
const draw = (pairs: readonly Pair[]): string =>
  pairs.map((p) => (p.same ? p.left : `${p.left ?? ""}|${p.right ?? ""}`)).join(" ");

void test("replaced lines are paired with their replacements", () => {
  for (const [left, right, want, count] of [
    ["a b c", "a b c", "a b c", 0],
    ["a b c", "a x c", "a b|x c", 1],
    ["a b c d", "a x c y z", "a b|x c d|y |z", 2],
    ["a b c d", "a x y z d", "a b|x c|y |z d", 1],
    ["a b", "b", "a| b", 1],
    ["", "a b", "|a |b", 1],
    ["a b c", "a c", "a b| c", 1],
  ] as const) {
    const pairs = pairLines(lines(left), lines(right));
    assert.deepEqual([draw(pairs), countDifferences(pairs)], [want, count]);
  }
});

void test("the pairs contain both texts with their line numbers", () => {
  let seed = 7;
  const random = (n: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
  for (let i = 0; i < 300; i++) {
    const [left, right] = [0, 1].map(() => Array.from({ length: random(12) }, () => "abc"[random(3)] as string)) as [
      string[],
      string[],
    ];
    const pairs = pairLines(left, right);
    assert.deepEqual(
      pairs.flatMap((p) => p.left ?? []),
      left,
    );
    assert.deepEqual(
      pairs.flatMap((p) => p.right ?? []),
      right,
    );
    assert.ok(pairs.every((p) => p.same === (p.left === p.right)));
    assert.ok(
      pairs.every(
        (p) =>
          (p.left === null || left[p.leftAt - 1] === p.left) && (p.right === null || right[p.rightAt - 1] === p.right),
      ),
    );
  }
});

void test("texts without common lines are compared in bounded time", () => {
  const long = (word: string): string[] => ["head", ...Array.from({ length: 30_000 }, (_, i) => `${word}${i}`), "tail"];
  let pairs = pairLines([], []);
  const took = (): number => {
    const began = performance.now();
    pairs = pairLines(long("a"), long("b"));
    return performance.now() - began;
  };
  assert.ok(
    [took, took, took, took].some((once) => once() < 3000),
    "at least one of four comparisons takes less than 3 s, even on a busy machine",
  );
  assert.deepEqual(
    [pairs.length, pairs[0]?.same, pairs.at(-1)?.same, countDifferences(pairs)],
    [30_002, true, true, 1],
  );
});

void test("all differences of long texts are found", () => {
  const left = Array.from({ length: 30_000 }, (_, i) => (i % 5 === 0 ? "- repeated:" : `  name: n${i}`));
  const right = left.flatMap((l, i) =>
    i % 10 === 3 ? [`${l}-other`] : i % 1000 === 7 ? [l, "  added: here"] : i % 1000 === 8 ? [] : [l],
  );
  const pairs = pairLines(left, right);
  assert.equal(
    pairs.filter((p) => !p.same).length,
    3000 + 30 + 30 - 30,
    "an added line is next to the removed line at its position",
  );
  assert.deepEqual([pairs.flatMap((p) => p.left ?? []), pairs.flatMap((p) => p.right ?? [])], [left, right]);
});

void test("a long comparison pauses, and stops when it is no longer needed", async () => {
  const text = (word: string): string[] =>
    Array.from({ length: 30_000 }, (_, i) => (i % 20 === 0 ? `${word}${i}` : `line ${i}`));
  let [now, pauses] = [0, 0];
  const work = (): Generator<undefined, Pair[]> => {
    now += 1; // each step takes 1 ms
    const inner = pairLinesInSteps(text("a"), text("b"));
    return (function* () {
      for (;;) {
        const step = inner.next();
        now += 1;
        if (step.done === true) return step.value;
        yield;
      }
    })();
  };
  const slices = new TimeSlicer(
    () => pauses < 1000,
    () => now,
    () => {
      pauses++;
      return Promise.resolve();
    },
  );
  slices.begin();
  const pairs = await slices.run(work());
  assert.ok(pauses > 100 && pauses < 1000, String(pauses));
  assert.equal(countDifferences(pairs ?? []), 1500);
  pauses = 990;
  assert.equal(await slices.run(work()), null);
  assert.equal(pauses, 1000);
});

void test("unchanged lines are folded, except a few around each change", () => {
  const left = Array.from({ length: 40 }, (_, i) => `l${i}`);
  const right = left.map((l, i) => (i === 10 || i === 13 || i === 23 ? "x" : l));
  const cut = runs(pairLines(left, right)).map(
    (r) => `${r.folded ? "folded " : ""}${r.pairs[0]?.leftAt}-${r.pairs.at(-1)?.leftAt}`,
  );
  assert.deepEqual(cut, ["folded 1-7", "8-17", "folded 18-20", "21-27", "folded 28-40"]);
  assert.deepEqual(
    runs(pairLines(left.slice(0, 5), right.slice(0, 5))).map((r) => r.folded),
    [true],
  );
  assert.deepEqual(
    runs(pairLines(["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "x"])).map((r) => r.folded),
    [false],
    "one or two unchanged lines are not folded",
  );
});

void test("lines with the same key are paired", () => {
  const pairs = pairLines(["labels:", "  version: 1", "name: a"], ["labels:", "  version: 2", "  round: 4", "name: b"]);
  assert.deepEqual(
    pairs.map((p) => [p.left, p.right]),
    [
      ["labels:", "labels:"],
      ["  version: 1", "  version: 2"],
      [null, "  round: 4"],
      ["name: a", "name: b"],
    ],
  );
});

void test("different words are marked", () => {
  const show = (pieces: readonly MarkedText[]): string =>
    pieces.map((p) => (p.marked ? `<${p.text}>` : p.text)).join("");
  const [left, right] = markWords("  image: registry/web:1.2", "  image: registry/web:1.3");
  assert.deepEqual([show(left), show(right)], ["  image: registry/web:1.<2>", "  image: registry/web:1.<3>"]);
  assert.deepEqual(
    markWords("Pending", "Running").map(show),
    ["Pending", "Running"],
    "lines without common words are completely different, without marks",
  );
});

void test("very long lines are marked between their common prefix and suffix", () => {
  const show = (pieces: readonly MarkedText[]): string =>
    pieces
      .map((p) => (p.marked ? `<${p.text}>` : p.text))
      .join("")
      .replace(/x{9,}/g, "x…");
  const long = "x".repeat(500_000);
  assert.deepEqual(markWords(`a: ${long}1 2${long}`, `a: ${long}3${long}`).map(show), ["a: x…<1 2>x…", "a: x…<3>x…"]);
  assert.deepEqual(markWords(long, `${long}y`).map(show), ["x…", "x…<y>"]);
  assert.deepEqual(
    markWords(`${long}\u{1f600}${long}`, `${long}\u{1f601}${long}`).map(show),
    ["x…<\u{1f600}>x…", "x…<\u{1f601}>x…"],
    "surrogate pairs are not split",
  );
  const words = (n: number): string => Array.from({ length: 900 }, (_, i) => (i * n) % 7).join(" ");
  const began = performance.now();
  for (let i = 0; i < 20; i++) markWords(words(3), words(4));
  assert.ok(performance.now() - began < 2000, "lines in which all words differ are marked in bounded time");
});
