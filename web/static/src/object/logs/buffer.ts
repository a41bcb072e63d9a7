// The newest lines of a log, up to a limit. A line keeps its number while older lines are dropped. The first line ever
// received has number 0.

import type { Line } from "./lines.ts";

const lineOverhead = 48; // bytes; about how much memory a line needs in addition to its text

export class LogBuffer {
  private lines: Line[] = [];
  private head = 0; // the index in lines of the oldest line in the buffer; those before it have been dropped
  private bytes = 0;
  /** The number of the oldest line in the buffer, which is also how many lines have been dropped. */
  first = 0;

  constructor(
    private readonly maxLines = 20_000,
    private readonly maxBytes = 8 << 20,
  ) {}

  /** The number that the next added line will have. */
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
    // Compact the array only now and then, because that copies it.
    if (this.head > 4096 || this.head > this.size) {
      this.lines = this.lines.slice(this.head);
      this.head = 0;
    }
  }

  /** Returns the line with this number, or undefined if it is not in the buffer. */
  at(number: number): Line | undefined {
    return number < this.first ? undefined : this.lines[this.head + number - this.first];
  }

  clear(): void {
    this.lines = [];
    this.head = this.first = this.bytes = 0;
  }

  /** Returns all lines in the buffer as text. */
  text(times: boolean): string {
    let out = "";
    for (let n = this.first; n < this.end; n++) {
      const line = this.at(n) as Line;
      if (line.note !== true) out += `${times && line.at !== "" ? `${line.at} ` : ""}${line.text}\n`;
    }
    return out;
  }
}

// Estimates the memory of a line in bytes. A character may take two.
const lineBytes = (line: Line): number => 2 * (line.text.length + line.at.length) + lineOverhead;
