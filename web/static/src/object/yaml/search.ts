// Searches a YAML text. The matches in each line are cached, so an update searches only the changed lines.

import { textPosition, type Row } from "../../yaml/row.ts";

export interface Hit {
  readonly row: Row;
  readonly at: number; // index of the first matching character in the line
}

export class Search {
  count = 0;
  current: Hit | null = null;
  private index = 0;
  private pattern: RegExp | null = null;
  private rows: readonly Row[] = [];

  /** Sets the text to search for. The search ignores case. An empty text matches nothing. */
  setQuery(query: string): void {
    this.pattern = query === "" ? null : new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
    this.current = null;
    for (const row of this.rows) row.found = null;
    this.setRows(this.rows);
  }

  /** Sets the rows to search. The selected match stays selected as long as its row exists. */
  setRows(rows: readonly Row[]): void {
    this.rows = rows;
    this.count = 0;
    if (this.pattern === null) return;
    for (const row of rows) {
      row.found ??= this.matchesIn(row.line.text);
      this.count += row.found.length / 2;
    }
    // An index below 0 means that the selected match's row is no longer in the text, probably because its line has
    // changed. Select the nearest match instead.
    if (this.current !== null && this.current.row.index < 0) this.current = this.nearestMatch(this.current.at);
    this.index = this.current?.row.index ?? this.index;
  }

  private nearestMatch(at: number): Hit | null {
    const row = this.rows[this.index];
    const starts = row === undefined ? [] : startsOf(row);
    if (row === undefined || starts.length === 0) return null;
    return { row, at: starts.findLast((s) => s <= at) ?? (starts[0] as number) };
  }

  /** Selects the next match (by = 1) or the previous one (by = -1). Without a selected match, it starts at `from`. */
  step(by: 1 | -1, from: number): Hit | null {
    const { current, rows } = this;
    if (this.count === 0) return (this.current = null);
    const startIndex = current?.row.index ?? from;
    for (let i = 0; i <= rows.length; i++) {
      const row = rows[(startIndex + by * i + rows.length) % rows.length] as Row;
      const starts = startsOf(row);
      const remaining = current !== null && i === 0 ? starts.filter((at) => (at - current.at) * by > 0) : starts;
      const at = by === 1 ? remaining[0] : remaining.at(-1);
      if (at === undefined) continue;
      this.index = row.index;
      return (this.current = { row, at });
    }
    return this.current;
  }

  /** The position of the selected match among all matches, starting at 1. 0 if no match is selected. */
  get number(): number {
    const { current } = this;
    if (current === null) return 0;
    let n = 0;
    for (const row of this.rows) {
      if (row === current.row) return n + (row.found ?? []).indexOf(current.at) / 2 + 1;
      n += (row.found?.length ?? 0) / 2;
    }
    return 0;
  }

  private matchesIn(text: string): number[] {
    const out: number[] = []; // the start and the end of each match, one after the other
    const pattern = this.pattern as RegExp;
    pattern.lastIndex = 0;
    for (let m = pattern.exec(text); m !== null; m = pattern.exec(text)) out.push(m.index, m.index + m[0].length);
    return out;
  }
}

const startsOf = (row: Row): number[] => (row.found ?? []).filter((_, i) => i % 2 === 0);

/** Returns the DOM range of the characters `from` (inclusive) to `to` (exclusive), or null if they are not drawn. */
export function range(row: Row, from: number, to: number): Range | null {
  const start = textPosition(row, from);
  const end = textPosition(row, to);
  if (start === null || end === null) return null;
  const r = document.createRange();
  r.setStart(...start);
  r.setEnd(...end);
  return r;
}
