const maxEdits = 600; // maximum number of edits; Myers' algorithm takes time in proportion to their square

/** Returns, for each entry of `next`, the index of the same entry in `before`, or -1. */
export function alignLists<T>(
  before: ArrayLike<T>,
  next: ArrayLike<T>,
  same: (a: T | undefined, b: T | undefined) => boolean = Object.is,
): Int32Array {
  const out = new Int32Array(next.length).fill(-1);
  let head = 0;
  const shorter = Math.min(before.length, next.length);
  while (head < shorter && same(before[head], next[head])) {
    out[head] = head;
    head++;
  }
  let endA = before.length;
  let endB = next.length;
  while (endA > head && endB > head && same(before[endA - 1], next[endB - 1])) out[--endB] = --endA;
  const n = endA - head;
  const m = endB - head;
  if (n === 0 || m === 0) return out;

  // The algorithm is from E. Myers, "An O(ND) Difference Algorithm and Its Variations".
  const limit = Math.min(n + m, maxEdits);
  // For each diagonal k, this array contains the highest index in the first list that is reachable with d edits
  // (insertions or deletions).
  const furthest = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  const at = (k: number): number => k + limit + 1;
  const movesDown = (v: Int32Array, k: number, d: number): boolean =>
    k === -d || (k !== d && (v[at(k - 1)] ?? 0) < (v[at(k + 1)] ?? 0));
  for (let d = 0; d <= limit; d++) {
    trace.push(furthest.slice(at(-d) - 1, at(d) + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = movesDown(furthest, k, d) ? (furthest[at(k + 1)] ?? 0) : (furthest[at(k - 1)] ?? 0) + 1;
      while (x < n && x - k < m && same(before[head + x], next[head + x - k])) x++;
      furthest[at(k)] = x;
      if (x >= n && x - k >= m) return backtrack(out, trace, head, n, m);
    }
  }
  // More than maxEdits entries differ, so compare only entries with equal indexes.
  for (let i = head; i < Math.min(endA, endB); i++) if (same(before[i], next[i])) out[i] = i;
  return out;
}

function backtrack(out: Int32Array, trace: readonly Int32Array[], head: number, n: number, m: number): Int32Array {
  let x = n;
  let y = m;
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = trace[d] as Int32Array; // the values of `furthest` before step d, for the diagonals -d-1 to d+1
    const get = (k: number): number => v[k + d + 1] ?? 0;
    const k = x - y;
    const from = k === -d || (k !== d && get(k - 1) < get(k + 1)) ? k + 1 : k - 1;
    const beforeX = d === 0 ? 0 : get(from);
    const beforeY = d === 0 ? 0 : beforeX - from;
    while (x > beforeX && y > beforeY) {
      x--;
      y--;
      out[head + y] = head + x;
    }
    x = beforeX;
    y = beforeY;
  }
  return out;
}
