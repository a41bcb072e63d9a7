// Searches texts approximately. A search consists of terms, separated by spaces or hyphens, in any order. Between two
// letters of a term, the text can contain one additional character.

import uFuzzy from "@leeoniya/ufuzzy";

export interface Hit {
  readonly index: number; // index in the searched list
  /**
   * The ranges of the text that match, as pairs of start and end indexes. Empty if there are too many hits to rank.
   */
  readonly ranges: readonly number[];
}

export interface Hits {
  readonly total: number;
  readonly best: readonly Hit[];
}

const maxRanked = 2000; // hits; if there are more, they are not ranked and keep their order

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
