// What is searched in a text. Each line is searched once for each search, so that
// a change costs what changed.

import { place, type Row } from "./row.ts";

/** A place where the text was found. */
export interface Hit {
  readonly row: Row;
  readonly at: number; // of its first character in the line
}

export class Search {
  count = 0;
  current: Hit | null = null;
  private index = 0; // of the current one's row
  private pattern: RegExp | null = null;
  private rows: readonly Row[] = [];

  /** Searches for other words; empty for none. Case is the same to it. */
  of(words: string): void {
    this.pattern = words === "" ? null : new RegExp(words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
    this.current = null;
    for (const row of this.rows) row.found = null;
    this.over(this.rows);
  }

  /** Searches these rows instead; what was current stays so while it is there. */
  over(rows: readonly Row[]): void {
    this.rows = rows;
    this.count = 0;
    if (this.pattern === null) return;
    for (const row of rows) {
      row.found ??= this.within(row.line.text);
      this.count += row.found.length / 2;
    }
    // A line that changed is another; what was found in it is likely in its place.
    if (this.current !== null && this.current.row.index < 0) this.current = this.nearby(this.current.at);
    this.index = this.current?.row.index ?? this.index;
  }

  private nearby(at: number): Hit | null {
    const row = this.rows[this.index];
    const starts = row === undefined ? [] : startsOf(row);
    if (row === undefined || starts.length === 0) return null;
    return { row, at: starts.findLast((s) => s <= at) ?? (starts[0] as number) };
  }

  /** The one after the current, or from a row on; or the one before. */
  step(by: 1 | -1, from: number): Hit | null {
    const { current, rows } = this;
    if (this.count === 0) return (this.current = null);
    const begin = current?.row.index ?? from;
    for (let i = 0; i <= rows.length; i++) {
      const row = rows[(begin + by * i + rows.length) % rows.length] as Row;
      const starts = startsOf(row);
      const beyond = current !== null && i === 0 ? starts.filter((at) => (at - current.at) * by > 0) : starts;
      const at = by === 1 ? beyond[0] : beyond.at(-1);
      if (at === undefined) continue;
      this.index = row.index;
      return (this.current = { row, at });
    }
    return this.current;
  }

  /** Which of all the current one is, from 1; 0 for none. */
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

  private within(text: string): number[] {
    const out: number[] = []; // begins and ends in turn
    const pattern = this.pattern as RegExp;
    pattern.lastIndex = 0;
    for (let m = pattern.exec(text); m !== null; m = pattern.exec(text)) out.push(m.index, m.index + m[0].length);
    return out;
  }
}

const startsOf = (row: Row): number[] => (row.found ?? []).filter((_, i) => i % 2 === 0);

/** The part of the page from one character of a row to another; null where it is not there. */
export function range(row: Row, from: number, to: number): Range | null {
  const start = place(row, from);
  const end = place(row, to);
  if (start === null || end === null) return null;
  const r = document.createRange();
  r.setStart(...start);
  r.setEnd(...end);
  return r;
}
