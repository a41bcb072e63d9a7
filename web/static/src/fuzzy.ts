// Finds what is meant by a few letters of it: terms with a space or a hyphen
// between them, in any order, each of whose letters may have one other between.

import uFuzzy from "@leeoniya/ufuzzy";

export interface Hit {
  readonly index: number; // in what was searched
  /** What of it matches: from, to, from, to; empty where so many match that they are not ranked. */
  readonly ranges: readonly number[];
}

export interface Hits {
  readonly total: number;
  readonly best: readonly Hit[];
}

const ranked = 2000; // more than so many are told in the order they stand

export class Fuzzy {
  private readonly fuzzy = new uFuzzy({ intraIns: 1, intraChars: "[a-z\\d._/:-]" });

  search(hay: readonly string[], needle: string, most: number): Hits {
    const [indices, info, order] = this.fuzzy.search(hay as string[], needle, 3, ranked);
    if (indices === null) return { total: 0, best: [] };
    if (info === null) return { total: indices.length, best: indices.slice(0, most).map((index) => ({ index, ranges: [] })) };
    return { total: order.length, best: order.slice(0, most).map((at) => ({ index: info.idx[at] ?? 0, ranges: info.ranges[at] ?? [] })) };
  }
}
