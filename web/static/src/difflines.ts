// Two texts line by line, side by side.

import { diffWordsWithSpace } from "diff";
import { aligned } from "./diff.ts";
import { atOnce } from "./slices.ts";

/** A line of each text: the same, one instead of the other, or one alone. */
export interface Pair {
  readonly left: string | null;
  readonly right: string | null;
  readonly leftAt: number; // from 1; of the last line before where there is none
  readonly rightAt: number;
  readonly same: boolean;
}

/** Pairs the lines of two texts; lines that take each other's place stand side by side. Yields wherever it may rest. */
export function* pairing(left: readonly string[], right: readonly string[]): Generator<undefined, Pair[]> {
  const from = yield* matched(left, right);
  const pairs: Pair[] = [];
  let [l, r] = [0, 0];
  const put = (lefts: readonly string[], rights: readonly string[]): void => {
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
    for (const [a, b] of alike(left.slice(l, from[to] ?? left.length), right.slice(r, to))) put(a, b);
    while (to < right.length && from[to] === l + to - r) to++;
    put(left.slice(l, l + to - r), right.slice(r, to));
  }
  return pairs;
}

/** The same at once. */
export const pairLines = (left: readonly string[], right: readonly string[]): Pair[] => atOnce(pairing(left, right));

const few = 200; // lines, of which the fewest that differ are found at once
const deepest = 12; // times that a part is cut
const step = 2048; // lines

type Part = readonly [fromA: number, toA: number, fromB: number, toB: number, deep: number];

// For each line of one text the index of the same one in another, or -1, in
// order. Lines that both texts have once cut them into parts, which are cut in
// the same way until they are small.
function* matched(left: readonly string[], right: readonly string[]): Generator<undefined, Int32Array> {
  const numbers = new Map<string, number>();
  const a = yield* numbered(left, numbers);
  const b = yield* numbered(right, numbers);
  const out = new Int32Array(b.length).fill(-1);
  const parts: Part[] = [[0, a.length, 0, b.length, 0]];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    yield;
    let [fromA, toA, fromB, toB] = part;
    const deep = part[4];
    while (fromA < toA && fromB < toB && a[fromA] === b[fromB]) out[fromB++] = fromA++;
    while (fromA < toA && fromB < toB && a[toA - 1] === b[toB - 1]) out[--toB] = --toA;
    if (fromA === toA || fromB === toB) continue;
    const cuts = toA - fromA + toB - fromB <= few || deep === deepest ? [] : yield* anchors(a, b, [fromA, toA, fromB, toB, deep]);
    if (cuts.length === 0) {
      aligned(a.subarray(fromA, toA), b.subarray(fromB, toB)).forEach((at, i) => {
        if (at >= 0) out[fromB + i] = fromA + at;
      });
      continue;
    }
    for (const [atA, atB] of cuts) {
      out[atB] = atA;
      if (fromA < atA && fromB < atB) parts.push([fromA, atA, fromB, atB, deep + 1]);
      [fromA, fromB] = [atA + 1, atB + 1];
    }
    parts.push([fromA, toA, fromB, toB, deep + 1]);
  }
  return out;
}

function* numbered(lines: readonly string[], numbers: Map<string, number>): Generator<undefined, Int32Array> {
  const out = new Int32Array(lines.length);
  for (let i = 0; i < lines.length; i++) {
    if (i % step === 0) yield;
    const line = lines[i] as string;
    let n = numbers.get(line);
    if (n === undefined) numbers.set(line, (n = numbers.size));
    out[i] = n;
  }
  return out;
}

// The lines that are once in either part, as many as are in the same order in both.
function* anchors(a: Int32Array, b: Int32Array, [fromA, toA, fromB, toB]: Part): Generator<undefined, [number, number][]> {
  const inA = yield* places(a, fromA, toA);
  const inB = yield* places(b, fromB, toB);
  // The longest run that grows: ends has the last of the best one of each length.
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
    if (all.length % step === 0) yield;
  }
  const out: [number, number][] = [];
  for (let i = best.at(-1) ?? -1; i >= 0; ) {
    const { at, before } = all[i] as (typeof all)[number];
    out.push([at[0], at[1]]);
    i = before;
  }
  return out.reverse();
}

// Where each line of a part is, in order; -1 for one that is there more than once.
function* places(lines: Int32Array, from: number, to: number): Generator<undefined, Map<number, number>> {
  const out = new Map<number, number>();
  for (let i = from; i < to; i++) {
    if (i % step === 0) yield;
    const line = lines[i] as number;
    out.set(line, out.has(line) ? -1 : i);
  }
  return out;
}

const mostAlike = 400; // lines that are paired by their keys

// Cuts lines that took each other's place so that those with the same key of
// YAML stand side by side.
function alike(left: readonly string[], right: readonly string[]): (readonly [readonly string[], readonly string[]])[] {
  if (left.length === right.length || left.length === 0 || right.length === 0 || left.length + right.length > mostAlike) return [[left, right]];
  const keyOf = (line: string): string => /^\s*(?:- )*[^:]*:/.exec(line)?.[0] ?? line;
  const from = aligned(left.map(keyOf), right.map(keyOf));
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

/** How many places differ: runs of lines that are not the same. */
export const differences = (pairs: readonly Pair[]): number => pairs.filter((p, i) => !p.same && (pairs[i - 1]?.same ?? true)).length;

export interface Run {
  readonly pairs: readonly Pair[];
  /** Unchanged and away from any change, so that it may be folded. */
  readonly folded: boolean;
}

/** Cuts pairs into what is to be seen and what may be folded, with a few lines around each change. */
export function runs(pairs: readonly Pair[], around = 3): Run[] {
  const near = new Uint8Array(pairs.length);
  pairs.forEach((p, i) => {
    if (!p.same) near.fill(1, Math.max(0, i - around), i + around + 1);
  });
  const out: { readonly pairs: Pair[]; readonly folded: boolean }[] = [];
  for (let from = 0; from < pairs.length; ) {
    let to = from + 1;
    while (to < pairs.length && near[to] === near[from]) to++;
    // To fold a line or two takes as much room as they do.
    const folded = near[from] === 0 && to - from > 2;
    const last = out.at(-1);
    if (last !== undefined && !folded && !last.folded) for (let i = from; i < to; i++) last.pairs.push(pairs[i] as Pair);
    else out.push({ pairs: pairs.slice(from, to), folded });
    from = to;
  }
  return out;
}

export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

const longest = 2000; // characters of a line in which words are compared
const mostEdits = 200; // words that come or go in it

/** Two lines as pieces, those marked that the other has not; plain where they have little in common. */
export function wordMarks(left: string, right: string): readonly [readonly Piece[], readonly Piece[]] {
  if (left.length > longest || right.length > longest) return endMarks(left, right);
  const parts = diffWordsWithSpace(left, right, { maxEditLength: mostEdits });
  if (parts === undefined) return endMarks(left, right);
  const shared = parts.reduce((n, p) => (p.added || p.removed ? n : n + p.value.trim().length), 0);
  if (shared * 4 < Math.max(left.trim().length, right.trim().length)) return [[{ text: left, marked: false }], [{ text: right, marked: false }]];
  const side = (mine: "added" | "removed", other: "added" | "removed"): Piece[] => parts.filter((p) => !p[other]).map((p) => ({ text: p.value, marked: p[mine] }));
  return [side("removed", "added"), side("added", "removed")];
}

// Of lines that differ in too much to be compared word by word, what is between
// the beginning and the end that both have.
function endMarks(left: string, right: string): readonly [readonly Piece[], readonly Piece[]] {
  const shorter = Math.min(left.length, right.length);
  let [head, tail] = [0, 0];
  while (head < shorter && left[head] === right[head]) head++;
  while (tail < shorter - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
  // The two halves of one character stay together.
  if (half(left, head, 0xd800) || half(right, head, 0xd800)) head--;
  if (half(left, left.length - tail + 1, 0xdc00) || half(right, right.length - tail + 1, 0xdc00)) tail--;
  const side = (text: string): Piece[] => [
    { text: text.slice(0, head), marked: false },
    { text: text.slice(head, text.length - tail), marked: true },
    { text: text.slice(text.length - tail), marked: false },
  ].filter((p) => p.text !== "");
  return [side(left), side(right)];
}

const half = (text: string, end: number, of: number): boolean => end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === of;
