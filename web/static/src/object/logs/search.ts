// The case-insensitive search in a log. An update searches only new lines.

import type { LogBuffer } from "./buffer.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A match of the search text in the log. */
export interface MatchPosition {
  readonly line: number;
  /** The index of the match in its line. */
  readonly indexInLine: number;
}

export class Search {
  private pattern: RegExp | null = null;
  private matchingLines: number[] = []; // lines with matches, in order
  private matchCounts: number[] = []; // for each line in lines, the number of matches in it
  private searchedTo = 0; // lines before this number have been searched
  count = 0;
  current: MatchPosition | null = null;

  constructor(private readonly buffer: LogBuffer) {}

  /** Sets the search text. An empty text matches nothing. */
  setQuery(query: string): void {
    this.pattern = query === "" ? null : new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
    this.reset();
  }

  /** Discards the matches, for example because another log is shown. */
  reset(): void {
    this.matchingLines = [];
    this.matchCounts = [];
    this.count = this.searchedTo = 0;
    this.current = null;
    this.update();
  }

  /** Updates the matches after the buffer has changed: searches new lines, and removes matches in dropped lines. */
  update(): void {
    const { buffer } = this;
    let droppedCount = 0;
    while (droppedCount < this.matchingLines.length && (this.matchingLines[droppedCount] as number) < buffer.first)
      this.count -= this.matchCounts[droppedCount++] as number;
    if (droppedCount > 0) {
      this.matchingLines.splice(0, droppedCount);
      this.matchCounts.splice(0, droppedCount);
    }
    if (this.current !== null && this.current.line < buffer.first) this.current = null;
    for (let n = Math.max(this.searchedTo, buffer.first); this.pattern !== null && n < buffer.end; n++) {
      const found = this.spans(n).length;
      if (found === 0) continue;
      this.matchingLines.push(n);
      this.matchCounts.push(found);
      this.count += found;
    }
    this.searchedTo = buffer.end;
  }

  /** Returns the positions of the matches in a line. */
  spans(line: number): Span[] {
    const { pattern } = this;
    const bufferedLine = this.buffer.at(line);
    if (pattern === null || bufferedLine === undefined || bufferedLine.note === true) return [];
    return [...bufferedLine.text.matchAll(pattern)].map((m) => ({ start: m.index, end: m.index + m[0].length }));
  }

  /** Selects the next or previous match, with wrap-around. from is the line to start at if no match is selected. */
  step(by: 1 | -1, from: number): MatchPosition | null {
    if (this.matchingLines.length === 0) return (this.current = null);
    const { current } = this;
    let at = this.matchingLines.findIndex((l) => l >= (current?.line ?? from));
    let indexInLine = (current?.indexInLine ?? -1) + by;
    if (current === null) {
      // Without a selected match, step down to the first match from that line on, or up to the last match before it.
      if (by < 0) at = (at < 0 ? this.matchingLines.length : at) - 1;
      else if (at < 0) at = 0;
      at = (at + this.matchingLines.length) % this.matchingLines.length;
      indexInLine = by < 0 ? (this.matchCounts[at] as number) - 1 : 0;
    } else if (indexInLine < 0 || indexInLine >= (this.matchCounts[at] as number)) {
      at = (at + by + this.matchingLines.length) % this.matchingLines.length;
      indexInLine = by < 0 ? (this.matchCounts[at] as number) - 1 : 0;
    }
    return (this.current = { line: this.matchingLines[at] as number, indexInLine });
  }

  /** The number of the selected match among all matches, counted from 1; 0 if no match is selected. */
  get number(): number {
    const { current } = this;
    if (current === null) return 0;
    const at = this.matchingLines.indexOf(current.line);
    return this.matchCounts.slice(0, at).reduce((a, b) => a + b, 0) + current.indexInLine + 1;
  }
}
