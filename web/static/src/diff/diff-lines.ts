import { diffWordsWithSpace } from "diff";
import { alignLists } from "../text/list-diff.ts";
import { runToEnd } from "../text/time-slice.ts";

/** One row of a side-by-side diff. A side without a line in this row is null. */
export interface Pair {
  readonly left: string | null;
  readonly right: string | null;
  readonly leftAt: number; // line number from 1; if left is null, the number of the previous left line
  readonly rightAt: number;
  readonly same: boolean;
}

/**
 * Pairs the equal lines of two texts, and each replaced line with its replacement. Yields where the caller can pause.
 */
export function* pairLinesInSteps(left: readonly string[], right: readonly string[]): Generator<undefined, Pair[]> {
  const from = yield* matchLines(left, right);
  const pairs: Pair[] = [];
  let [l, r] = [0, 0];
  const addPairs = (lefts: readonly string[], rights: readonly string[]): void => {
    for (let i = 0; i < Math.max(lefts.length, rights.length); i++) {
      const [a, b] = [lefts[i] ?? null, rights[i] ?? null];
      if (a !== null) l++;
      if (b !== null) r++;
      pairs.push({ left: a, right: b, leftAt: l, rightAt: r, same: a === b });
    }
  };
  while (l < left.length || r < right.length) {
    yield;
    let to = r;
    while (to < right.length && (from[to] ?? -1) < 0) to++;
    for (const [a, b] of pairByKey(left.slice(l, from[to] ?? left.length), right.slice(r, to))) addPairs(a, b);
    while (to < right.length && from[to] === l + to - r) to++;
    addPairs(left.slice(l, l + to - r), right.slice(r, to));
  }
  return pairs;
}

export const pairLines = (left: readonly string[], right: readonly string[]): Pair[] =>
  runToEnd(pairLinesInSteps(left, right));

const maxDirectLines = 200; // lines; a section up to this size gets a minimal diff
const maxDepth = 12; // levels of sections within sections; a section at this level is not divided further
const yieldInterval = 2048; // lines that are processed between two points where the caller can pause

type Section = readonly [fromA: number, toA: number, fromB: number, toB: number, deep: number];

// Returns, for each right line, the index of the equal left line, or -1.
function* matchLines(left: readonly string[], right: readonly string[]): Generator<undefined, Int32Array> {
  const numbers = new Map<string, number>();
  const a = yield* lineNumbers(left, numbers);
  const b = yield* lineNumbers(right, numbers);
  const out = new Int32Array(b.length).fill(-1);
  const parts: Section[] = [[0, a.length, 0, b.length, 0]];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    yield;
    let [fromA, toA, fromB, toB] = part;
    const depth = part[4];
    while (fromA < toA && fromB < toB && a[fromA] === b[fromB]) out[fromB++] = fromA++;
    while (fromA < toA && fromB < toB && a[toA - 1] === b[toB - 1]) out[--toB] = --toA;
    if (fromA === toA || fromB === toB) continue;
    // Use lines that are unique in both texts to divide the section into smaller ones.
    const anchorPairs =
      toA - fromA + toB - fromB <= maxDirectLines || depth === maxDepth
        ? []
        : yield* anchors(a, b, [fromA, toA, fromB, toB, depth]);
    if (anchorPairs.length === 0) {
      alignLists(a.subarray(fromA, toA), b.subarray(fromB, toB)).forEach((at, i) => {
        if (at >= 0) out[fromB + i] = fromA + at;
      });
      continue;
    }
    for (const [atA, atB] of anchorPairs) {
      out[atB] = atA;
      if (fromA < atA && fromB < atB) parts.push([fromA, atA, fromB, atB, depth + 1]);
      [fromA, fromB] = [atA + 1, atB + 1];
    }
    parts.push([fromA, toA, fromB, toB, depth + 1]);
  }
  return out;
}

function* lineNumbers(lines: readonly string[], numbers: Map<string, number>): Generator<undefined, Int32Array> {
  const out = new Int32Array(lines.length);
  for (let i = 0; i < lines.length; i++) {
    if (i % yieldInterval === 0) yield;
    const line = lines[i] as string;
    let n = numbers.get(line);
    if (n === undefined) numbers.set(line, (n = numbers.size));
    out[i] = n;
  }
  return out;
}

// Returns the longest sequence of lines that occur once in each text and have the same order in both texts.
function* anchors(
  a: Int32Array,
  b: Int32Array,
  [fromA, toA, fromB, toB]: Section,
): Generator<undefined, [number, number][]> {
  const inA = yield* uniquePositions(a, fromA, toA);
  const inB = yield* uniquePositions(b, fromB, toB);
  // Find the longest increasing subsequence. The array `all` contains the possible anchors. best[n] is the index of the
  // anchor that ends the best sequence of n + 1 anchors.
  const ends: { readonly at: readonly [number, number]; readonly before: number }[] = [];
  const all: typeof ends = [];
  const best: number[] = [];
  for (const [line, atB] of inB) {
    const atA = inA.get(line) ?? -1;
    if (atA < 0 || atB < 0) continue;
    let [low, high] = [0, best.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((all[best[middle] as number] as (typeof all)[number]).at[0] < atA) low = middle + 1;
      else high = middle;
    }
    best[low] = all.push({ at: [atA, atB], before: best[low - 1] ?? -1 }) - 1;
    if (all.length % yieldInterval === 0) yield;
  }
  const out: [number, number][] = [];
  for (let i = best.at(-1) ?? -1; i >= 0; ) {
    const { at, before } = all[i] as (typeof all)[number];
    out.push([at[0], at[1]]);
    i = before;
  }
  return out.reverse();
}

// Maps each line number (equal lines have equal numbers) to its index in `lines`, or to -1 if it occurs more than once.
function* uniquePositions(lines: Int32Array, from: number, to: number): Generator<undefined, Map<number, number>> {
  const out = new Map<number, number>();
  for (let i = from; i < to; i++) {
    if (i % yieldInterval === 0) yield;
    const line = lines[i] as number;
    out.set(line, out.has(line) ? -1 : i);
  }
  return out;
}

const maxKeyedLines = 400; // lines of both texts; larger blocks are not paired by YAML key

// Splits a block of replaced lines, so that lines with the same YAML key are in one row.
function pairByKey(
  left: readonly string[],
  right: readonly string[],
): (readonly [readonly string[], readonly string[]])[] {
  if (
    left.length === right.length ||
    left.length === 0 ||
    right.length === 0 ||
    left.length + right.length > maxKeyedLines
  )
    return [[left, right]];
  const keyOf = (line: string): string => /^\s*(?:- )*[^:]*:/.exec(line)?.[0] ?? line;
  const from = alignLists(left.map(keyOf), right.map(keyOf));
  const out: (readonly [readonly string[], readonly string[]])[] = [];
  let [l, r] = [0, 0];
  for (let to = 0; to <= right.length; to++) {
    const at = from[to] ?? left.length;
    if (at < 0) continue;
    out.push([left.slice(l, at), right.slice(r, to)], [left.slice(at, at + 1), right.slice(to, to + 1)]);
    [l, r] = [at + 1, to + 1];
  }
  return out;
}

/** Counts the differences. Consecutive unequal pairs count as one. */
export const countDifferences = (pairs: readonly Pair[]): number =>
  pairs.filter((p, i) => !p.same && (pairs[i - 1]?.same ?? true)).length;

interface Run {
  readonly pairs: readonly Pair[];
  /** Whether the lines are unchanged and far from any change, so that the diff collapses them. */
  readonly folded: boolean;
}

/** Divides the pairs into folded and visible runs. `around` is the number of visible unchanged lines near a change. */
export function runs(pairs: readonly Pair[], around = 3): Run[] {
  const near = new Uint8Array(pairs.length);
  pairs.forEach((p, i) => {
    if (!p.same) near.fill(1, Math.max(0, i - around), i + around + 1);
  });
  const out: { readonly pairs: Pair[]; readonly folded: boolean }[] = [];
  for (let from = 0; from < pairs.length; ) {
    let to = from + 1;
    while (to < pairs.length && near[to] === near[from]) to++;
    // Fold only runs of three or more lines, because the button that expands them needs as much space as two lines.
    const folded = near[from] === 0 && to - from > 2;
    const last = out.at(-1);
    if (last !== undefined && !folded && !last.folded)
      for (let i = from; i < to; i++) last.pairs.push(pairs[i] as Pair);
    else out.push({ pairs: pairs.slice(from, to), folded });
    from = to;
  }
  return out;
}

export interface MarkedText {
  readonly text: string;
  readonly marked: boolean;
}

const maxWordDiffLength = 2000; // characters; longer lines are not compared word by word
const maxWordEdits = 200; // added and removed words; lines with more are not compared word by word

/** Marks the words that occur in only one of the lines. Lines with little in common stay unmarked. */
export function markWords(left: string, right: string): readonly [readonly MarkedText[], readonly MarkedText[]] {
  if (left.length > maxWordDiffLength || right.length > maxWordDiffLength) return markMiddle(left, right);
  const parts = diffWordsWithSpace(left, right, { maxEditLength: maxWordEdits });
  if (parts === undefined) return markMiddle(left, right);
  const shared = parts.reduce((n, p) => (p.added || p.removed ? n : n + p.value.trim().length), 0);
  if (shared * 4 < Math.max(left.trim().length, right.trim().length))
    return [[{ text: left, marked: false }], [{ text: right, marked: false }]];
  const side = (own: "added" | "removed", other: "added" | "removed"): MarkedText[] =>
    parts.filter((p) => !p[other]).map((p) => ({ text: p.value, marked: p[own] }));
  return [side("removed", "added"), side("added", "removed")];
}

// For lines that are too long or too different: marks everything between the common prefix and suffix.
function markMiddle(left: string, right: string): readonly [readonly MarkedText[], readonly MarkedText[]] {
  const shorter = Math.min(left.length, right.length);
  let [head, tail] = [0, 0];
  while (head < shorter && left[head] === right[head]) head++;
  while (tail < shorter - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
  // Do not split a surrogate pair (two UTF-16 units of one character).
  if (isSurrogateHalf(left, head, 0xd800) || isSurrogateHalf(right, head, 0xd800)) head--;
  if (isSurrogateHalf(left, left.length - tail + 1, 0xdc00) || isSurrogateHalf(right, right.length - tail + 1, 0xdc00))
    tail--;
  const side = (text: string): MarkedText[] =>
    [
      { text: text.slice(0, head), marked: false },
      { text: text.slice(head, text.length - tail), marked: true },
      { text: text.slice(text.length - tail), marked: false },
    ].filter((p) => p.text !== "");
  return [side(left), side(right)];
}

const isSurrogateHalf = (text: string, end: number, of: number): boolean =>
  end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === of;
