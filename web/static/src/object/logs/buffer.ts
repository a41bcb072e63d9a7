// Stores the newest lines of a log, numbered from 0. A line keeps its number when older lines are dropped.

import type { Line } from "./lines.ts";

const lineOverhead = 48; // approximate bytes of memory for a line, in addition to its text

export class LogBuffer {
  private lines: Line[] = [];
  private head = 0; // index of the oldest stored line in the array `lines`
  private bytes = 0;
  /** The number of the oldest stored line. Equals the number of dropped lines, because numbers start at 0. */
  first = 0;

  constructor(
    private readonly maxLines = 20_000,
    private readonly maxBytes = 8 << 20,
  ) {}

  /** The number that the next line will get. */
  get end(): number {
    return this.first + this.size;
  }

  get size(): number {
    return this.lines.length - this.head;
  }

  append(lines: readonly Line[]): void {
    for (const line of lines) {
      this.lines.push(line);
      this.bytes += lineBytes(line);
      while (this.size > 1 && (this.size > this.maxLines || this.bytes > this.maxBytes)) {
        this.bytes -= lineBytes(this.lines[this.head] as Line);
        this.head++;
        this.first++;
      }
    }
    // Shorten the array only if it contains many dropped lines, because this copies the array.
    if (this.head > 4096 || this.head > this.size) {
      this.lines = this.lines.slice(this.head);
      this.head = 0;
    }
  }

  /**
   * Merges `lines` into the stored lines. Both are already sorted by `order`. Returns the number of the first changed
   * line: each inserted line increases the numbers of the stored lines after it.
   */
  merge(lines: readonly Line[], order: (a: Line, b: Line) => number): number {
    const [oldest] = lines;
    let at = this.lines.length;
    while (oldest !== undefined && at > this.head && order(this.lines[at - 1] as Line, oldest) > 0) at--;
    const newer = this.lines.splice(at);
    for (const line of newer) this.bytes -= lineBytes(line);
    const from = this.first + at - this.head;
    this.append(newer.length === 0 ? lines : [...newer, ...lines].sort(order));
    return from;
  }

  at(number: number): Line | undefined {
    return number < this.first ? undefined : this.lines[this.head + number - this.first];
  }

  clear(): void {
    this.lines = [];
    this.head = this.first = this.bytes = 0;
  }

  text(times: boolean): string {
    let out = "";
    for (let n = this.first; n < this.end; n++) {
      const line = this.at(n) as Line;
      if (line.note !== true) out += `${prefixOf(line, times)}${line.text}\n`;
    }
    return out;
  }
}

const prefixOf = ({ at, source }: Line, times: boolean): string =>
  `${times && at !== "" ? `${at} ` : ""}${source === undefined ? "" : `[${source.name}] `}`;

// Estimates the memory in bytes, at two bytes per character.
const lineBytes = (line: Line): number => 2 * (line.text.length + line.at.length) + lineOverhead;
