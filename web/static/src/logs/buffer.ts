// The newest lines of a log, up to a limit. A line keeps its number while older lines are dropped. The first line ever
// received has number 0.

import type { Line } from "./lines.ts";

const each = 48; // approximate overhead of a line in bytes, in addition to its text

export class LogBuffer {
  private lines: Line[] = [];
  private head = 0; // index of the first line that is kept; earlier lines are dropped
  private bytes = 0;
  /** The number of the oldest line that is kept. It equals the number of dropped lines. */
  first = 0;

  constructor(
    private readonly maxLines = 20_000,
    private readonly maxBytes = 8 << 20,
  ) {}

  /** The number of the next line. */
  get end(): number {
    return this.first + this.size;
  }

  get size(): number {
    return this.lines.length - this.head;
  }

  append(lines: readonly Line[]): void {
    for (const line of lines) {
      this.lines.push(line);
      this.bytes += weigh(line);
      while (this.size > 1 && (this.size > this.maxLines || this.bytes > this.maxBytes)) {
        this.bytes -= weigh(this.lines[this.head] as Line);
        this.head++;
        this.first++;
      }
    }
    // Compacting the array for every dropped line would copy it for every new line.
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

// A character may take two bytes.
const weigh = (line: Line): number => 2 * (line.text.length + line.at.length) + each;
