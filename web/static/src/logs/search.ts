// The case-insensitive search in a log. An update searches only new lines.

import type { LogBuffer } from "./buffer.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A match of the search text in the log. */
export interface Place {
  readonly line: number;
  /** The index of the match in its line. */
  readonly nth: number;
}

export class Search {
  private pattern: RegExp | null = null;
  private lines: number[] = []; // lines with matches, in order
  private counts: number[] = []; // for each line in lines, the number of matches in it
  private looked = 0; // lines before this number have been searched
  count = 0;
  current: Place | null = null;

  constructor(private readonly buffer: LogBuffer) {}

  /** Sets the search text. An empty text matches nothing. */
  of(words: string): void {
    this.pattern = words === "" ? null : new RegExp(words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
    this.reset();
  }

  /** Discards the matches, for example because another log is shown. */
  reset(): void {
    this.lines = [];
    this.counts = [];
    this.count = this.looked = 0;
    this.current = null;
    this.update();
  }

  /** Updates the matches after the buffer has changed: searches new lines, and removes matches in dropped lines. */
  update(): void {
    const { buffer } = this;
    let gone = 0;
    while (gone < this.lines.length && (this.lines[gone] as number) < buffer.first)
      this.count -= this.counts[gone++] as number;
    if (gone > 0) {
      this.lines.splice(0, gone);
      this.counts.splice(0, gone);
    }
    if (this.current !== null && this.current.line < buffer.first) this.current = null;
    for (let n = Math.max(this.looked, buffer.first); this.pattern !== null && n < buffer.end; n++) {
      const found = this.spans(n).length;
      if (found === 0) continue;
      this.lines.push(n);
      this.counts.push(found);
      this.count += found;
    }
    this.looked = buffer.end;
  }

  /** Returns the positions of the matches in a line. */
  spans(line: number): Span[] {
    const { pattern } = this;
    const held = this.buffer.at(line);
    if (pattern === null || held === undefined || held.note === true) return [];
    return [...held.text.matchAll(pattern)].map((m) => ({ start: m.index, end: m.index + m[0].length }));
  }

  /** Selects the next or previous match, with wrap-around. from is the line to start at if no match is selected. */
  step(by: 1 | -1, from: number): Place | null {
    if (this.lines.length === 0) return (this.current = null);
    const { current } = this;
    let at = this.lines.findIndex((l) => l >= (current?.line ?? from));
    let nth = (current?.nth ?? -1) + by;
    if (current === null) {
      // Without a selected match, step down to the first match from that line on, or up to the last match before it.
      if (by < 0) at = (at < 0 ? this.lines.length : at) - 1;
      else if (at < 0) at = 0;
      at = (at + this.lines.length) % this.lines.length;
      nth = by < 0 ? (this.counts[at] as number) - 1 : 0;
    } else if (nth < 0 || nth >= (this.counts[at] as number)) {
      at = (at + by + this.lines.length) % this.lines.length;
      nth = by < 0 ? (this.counts[at] as number) - 1 : 0;
    }
    return (this.current = { line: this.lines[at] as number, nth });
  }

  /** The number of the selected match among all matches, counted from 1; 0 if no match is selected. */
  get number(): number {
    const { current } = this;
    if (current === null) return 0;
    const at = this.lines.indexOf(current.line);
    return this.counts.slice(0, at).reduce((a, b) => a + b, 0) + current.nth + 1;
  }
}
