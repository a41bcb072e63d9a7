import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, pairLines, runs, wordMarks, type Pair, type Piece } from "../static/src/difflines.ts";

const lines = (text: string): string[] => text.split(" ").filter((l) => l !== "");
const draw = (pairs: readonly Pair[]): string => pairs.map((p) => (p.same ? p.left : `${p.left ?? ""}|${p.right ?? ""}`)).join(" ");

void test("lines that take each other's place stand side by side", () => {
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
    assert.deepEqual([draw(pairs), differences(pairs)], [want, count]);
  }
});

void test("both texts can be read from the pairs, with their line numbers", () => {
  let seed = 7;
  const random = (n: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
  for (let i = 0; i < 300; i++) {
    const [left, right] = [0, 1].map(() => Array.from({ length: random(12) }, () => "abc"[random(3)] as string)) as [string[], string[]];
    const pairs = pairLines(left, right);
    assert.deepEqual(pairs.flatMap((p) => p.left ?? []), left);
    assert.deepEqual(pairs.flatMap((p) => p.right ?? []), right);
    assert.ok(pairs.every((p) => p.same === (p.left === p.right)));
    assert.ok(pairs.every((p) => (p.left === null || left[p.leftAt - 1] === p.left) && (p.right === null || right[p.rightAt - 1] === p.right)));
  }
});

void test("texts that have nothing in common do not take for ever", () => {
  const long = (word: string): string[] => ["head", ...Array.from({ length: 30_000 }, (_, i) => `${word}${i}`), "tail"];
  let pairs = pairLines([], []);
  const took = (): number => {
    const began = performance.now();
    pairs = pairLines(long("a"), long("b"));
    return performance.now() - began;
  };
  assert.ok([took, took, took, took].some((once) => once() < 3000), "what is slow is slow each time; a busy machine is not");
  assert.deepEqual([pairs.length, pairs[0]?.same, pairs.at(-1)?.same, differences(pairs)], [30_002, true, true, 1]);
});

void test("what is unchanged is folded, but for a few lines around each change", () => {
  const left = Array.from({ length: 40 }, (_, i) => `l${i}`);
  const right = left.map((l, i) => (i === 10 || i === 13 || i === 23 ? "x" : l));
  const cut = runs(pairLines(left, right)).map((r) => `${r.folded ? "folded " : ""}${r.pairs[0]?.leftAt}-${r.pairs.at(-1)?.leftAt}`);
  assert.deepEqual(cut, ["folded 1-7", "8-17", "folded 18-20", "21-27", "folded 28-40"]);
  assert.deepEqual(runs(pairLines(left.slice(0, 5), right.slice(0, 5))).map((r) => r.folded), [true]);
  assert.deepEqual(runs(pairLines(["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "x"])).map((r) => r.folded), [false], "a line or two are no fold");
});

void test("lines with the same key stand side by side", () => {
  const pairs = pairLines(["labels:", "  version: 1", "name: a"], ["labels:", "  version: 2", "  round: 4", "name: b"]);
  assert.deepEqual(pairs.map((p) => [p.left, p.right]), [["labels:", "labels:"], ["  version: 1", "  version: 2"], [null, "  round: 4"], ["name: a", "name: b"]]);
});

void test("words that differ are marked", () => {
  const show = (pieces: readonly Piece[]): string => pieces.map((p) => (p.marked ? `<${p.text}>` : p.text)).join("");
  const [left, right] = wordMarks("  image: registry/web:1.2", "  image: registry/web:1.3");
  assert.deepEqual([show(left), show(right)], ["  image: registry/web:1.<2>", "  image: registry/web:1.<3>"]);
  assert.deepEqual(wordMarks("Pending", "Running").map(show), ["Pending", "Running"], "with nothing in common the lines as a whole differ");
});
