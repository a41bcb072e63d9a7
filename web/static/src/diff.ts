// Which lines of a text are new against the text before.

const mostCells = 250_000; // of the table of the longest common subsequence

/**
 * For each line of next the index of the same line in before, or -1 where it is
 * new or changed. The equal head and tail are cut off first; between very long
 * different middles everything counts as changed.
 */
export function aligned(before: readonly string[], next: readonly string[]): Int32Array {
  const out = new Int32Array(next.length).fill(-1);
  let head = 0;
  const shorter = Math.min(before.length, next.length);
  while (head < shorter && before[head] === next[head]) {
    out[head] = head;
    head++;
  }
  let endA = before.length;
  let endB = next.length;
  while (endA > head && endB > head && before[endA - 1] === next[endB - 1]) out[--endB] = --endA;
  const n = endA - head;
  const m = endB - head;
  if (n === 0 || m === 0 || n * m > mostCells) return out;

  // lengths[i][j]: the longest common subsequence of before[head+i..] and next[head+j..]
  const width = m + 1;
  const lengths = new Uint16Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      const down = lengths[(i + 1) * width + j] ?? 0;
      const right = lengths[i * width + j + 1] ?? 0;
      lengths[i * width + j] = before[head + i] === next[head + j] ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(down, right);
    }
  }
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (before[head + i] === next[head + j]) out[head + j++] = head + i++;
    else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i++;
    else j++;
  }
  return out;
}
