// Two texts line by line, side by side.

import { diffArrays, diffWordsWithSpace } from "diff";

/** A line of each text: the same, one instead of the other, or one alone. */
export interface Pair {
  readonly left: string | null;
  readonly right: string | null;
  readonly leftAt: number; // from 1; of the last line before where there is none
  readonly rightAt: number;
  readonly same: boolean;
}

const patience = 300; // ms; texts that have nothing in common take long

/** Pairs the lines of two texts; lines that take each other's place stand side by side. */
export function pairLines(left: readonly string[], right: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  let [l, r] = [0, 0];
  const change = (lefts: readonly string[], rights: readonly string[]): void => {
    for (const [a, b] of alike(lefts, rights)) put(a, b, false);
  };
  const put = (lefts: readonly string[], rights: readonly string[], same: boolean): void => {
    for (let i = 0; i < Math.max(lefts.length, rights.length); i++) {
      const [a, b] = [lefts[i] ?? null, rights[i] ?? null];
      if (a !== null) l++;
      if (b !== null) r++;
      pairs.push({ left: a, right: b, leftAt: l, rightAt: r, same });
    }
  };
  // Patience ends first where almost all differs: then the middle does as a whole.
  const parts = diffArrays([...left], [...right], { timeout: patience });
  if (parts === undefined) {
    let [head, tail] = [0, 0];
    const shorter = Math.min(left.length, right.length);
    while (head < shorter && left[head] === right[head]) head++;
    while (tail < shorter - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
    put(left.slice(0, head), right.slice(0, head), true);
    put(left.slice(head, left.length - tail), right.slice(head, right.length - tail), false);
    put(left.slice(left.length - tail), right.slice(right.length - tail), true);
    return pairs;
  }
  let removed: readonly string[] = [];
  for (const part of parts) {
    if (part.removed) {
      removed = part.value;
      continue;
    }
    if (part.added) change(removed, part.value);
    else {
      put(removed, [], false);
      put(part.value, part.value, true);
    }
    removed = [];
  }
  put(removed, [], false);
  return pairs;
}

const mostAlike = 400; // lines that are paired by their keys

// Cuts lines that took each other's place so that those with the same key of
// YAML stand side by side.
function alike(left: readonly string[], right: readonly string[]): (readonly [readonly string[], readonly string[]])[] {
  if (left.length === right.length || left.length + right.length > mostAlike) return [[left, right]];
  const keyOf = (line: string): string => /^\s*(?:- )*[^:]*:/.exec(line)?.[0] ?? line;
  const out: [readonly string[], readonly string[]][] = [];
  let [l, r] = [0, 0];
  let removed = 0;
  const flush = (added: number): void => {
    if (removed + added > 0) out.push([left.slice(l, l + removed), right.slice(r, r + added)]);
    l += removed;
    r += added;
    removed = 0;
  };
  for (const part of diffArrays(left.map(keyOf), right.map(keyOf))) {
    if (part.removed) removed = part.value.length;
    else if (part.added) flush(part.value.length);
    else {
      flush(0);
      const n = part.value.length;
      out.push([left.slice(l, l + n), right.slice(r, r + n)]);
      l += n;
      r += n;
    }
  }
  flush(0);
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
  const out: Run[] = [];
  for (let from = 0; from < pairs.length; ) {
    let to = from + 1;
    while (to < pairs.length && near[to] === near[from]) to++;
    // To fold a line or two takes as much room as they do.
    const folded = near[from] === 0 && to - from > 2;
    const last = out.at(-1);
    if (last !== undefined && !folded && !last.folded) out[out.length - 1] = { pairs: [...last.pairs, ...pairs.slice(from, to)], folded };
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

/** Two lines as pieces, those marked that the other has not; plain where they have little in common. */
export function wordMarks(left: string, right: string): readonly [readonly Piece[], readonly Piece[]] {
  const plain = [[{ text: left, marked: false }], [{ text: right, marked: false }]] as const;
  if (left.length > longest || right.length > longest) return plain;
  const parts = diffWordsWithSpace(left, right);
  const shared = parts.reduce((n, p) => (p.added || p.removed ? n : n + p.value.trim().length), 0);
  if (shared * 4 < Math.max(left.trim().length, right.trim().length)) return plain;
  const side = (mine: "added" | "removed", other: "added" | "removed"): Piece[] => parts.filter((p) => !p[other]).map((p) => ({ text: p.value, marked: p[mine] }));
  return [side("removed", "added"), side("added", "removed")];
}
