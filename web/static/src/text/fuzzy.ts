// Fuzzy search: terms separated by a space or a hyphen, in any order. Each term may have one extra character between
// two of its letters.

import uFuzzy from "@leeoniya/ufuzzy";

export interface Hit {
  readonly index: number; // index in the searched list
  /** The matching ranges: from, to, from, to. Empty if there are too many matches to rank. */
  readonly ranges: readonly number[];
}

export interface Hits {
  readonly total: number;
  readonly best: readonly Hit[];
}

const maxRanked = 2000; // with more matches than this, they keep their order and are not ranked

export class Fuzzy {
  private readonly fuzzy = new uFuzzy({ intraIns: 1, intraChars: "[a-z\\d._/:-]" });

  search(haystack: readonly string[], needle: string, limit: number): Hits {
    const [indices, info, order] = this.fuzzy.search(haystack as string[], needle, 3, maxRanked);
    if (indices === null) return { total: 0, best: [] };
    if (info === null)
      return { total: indices.length, best: indices.slice(0, limit).map((index) => ({ index, ranges: [] })) };
    return {
      total: order.length,
      best: order.slice(0, limit).map((at) => ({ index: info.idx[at] ?? 0, ranges: info.ranges[at] ?? [] })),
    };
  }
}
