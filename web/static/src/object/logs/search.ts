// Searches a log without regard to case. An update of the log searches only the new lines.

import type { LogBuffer } from "./buffer.ts";
import type { Line } from "./lines.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface MatchPosition {
  readonly line: number;
  readonly indexInLine: number;
}

interface LineFilter {
  /** Identifies the filter's settings. Two filters with the same key show the same lines. */
  readonly key: string;
  shows(line: Line): boolean;
}

export class Search {
  private pattern: RegExp | null = null;
  private filter: LineFilter | null = null;
  private filterKey = "";
  private matchingLines: number[] = []; // numbers of the lines that contain matches, in ascending order
  private matchCounts: number[] = []; // number of matches in each line of matchingLines
  private searchedTo = 0; // lines with lower numbers have been searched
  count = 0;
  current: MatchPosition | null = null;

  constructor(private readonly buffer: LogBuffer) {}

  setQuery(query: string): void {
    this.pattern = query === "" ? null : new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
    this.reset();
  }

  /** Searches again if the filter has changed. Matches in hidden lines do not count. */
  setFilter(filter: LineFilter): void {
    this.filter = filter;
    if (filter.key === this.filterKey) return;
    this.filterKey = filter.key;
    this.reset();
  }

  reset(): void {
    this.matchingLines = [];
    this.matchCounts = [];
    this.count = this.searchedTo = 0;
    this.current = null;
    this.update();
  }

  /** Is called after the line with this number and all following lines were replaced. */
  restartAt(line: number): void {
    while ((this.matchingLines.at(-1) ?? -1) >= line) {
      this.matchingLines.pop();
      this.count -= this.matchCounts.pop() as number;
    }
    if (this.current !== null && this.current.line >= line) this.current = null;
    this.searchedTo = Math.min(this.searchedTo, line);
    this.update();
  }

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

  spans(line: number): Span[] {
    const { pattern } = this;
    const bufferedLine = this.buffer.at(line);
    if (pattern === null || bufferedLine === undefined || bufferedLine.note === true) return [];
    if (this.filter?.shows(bufferedLine) === false) return [];
    return [...bufferedLine.text.matchAll(pattern)].map((m) => ({ start: m.index, end: m.index + m[0].length }));
  }

  /** Selects the next match (by = 1) or the previous one (by = -1). Without a selected match, it starts at `from`. */
  step(by: 1 | -1, from: number): MatchPosition | null {
    if (this.matchingLines.length === 0) return (this.current = null);
    const { current } = this;
    let at = this.matchingLines.findIndex((l) => l >= (current?.line ?? from));
    let indexInLine = (current?.indexInLine ?? -1) + by;
    if (current === null) {
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

  /** The position of the selected match among all matches, starting at 1. 0 if no match is selected. */
  get number(): number {
    const { current } = this;
    if (current === null) return 0;
    const at = this.matchingLines.indexOf(current.line);
    return this.matchCounts.slice(0, at).reduce((a, b) => a + b, 0) + current.indexInLine + 1;
  }
}
