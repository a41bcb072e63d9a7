// Approximate search for terms in any order. Between two letters of a term, the text can contain one other character.

import uFuzzy from "@leeoniya/ufuzzy";

interface Hit {
  readonly index: number;
  /** Start and end indexes of the matching parts. Empty if there are too many hits to rank. */
  readonly ranges: readonly number[];
}

interface Hits {
  readonly total: number;
  readonly best: readonly Hit[];
}

const maxRanked = 2000; // if more texts match, the matches are not ranked, because ranking is slow

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
