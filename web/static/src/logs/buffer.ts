// The newest lines of a log, within bounds. A line keeps its number while others
// go: the first that ever came is 0.

import type { Line } from "./lines.ts";

const each = 48; // bytes that a line takes beside its text, about

export class LogBuffer {
  private lines: Line[] = [];
  private head = 0; // in lines; what is before it has gone
  private bytes = 0;
  /** The number of the oldest line held, which is how many were let go. */
  first = 0;

  constructor(
    private readonly maxLines = 20_000,
    private readonly maxBytes = 8 << 20,
  ) {}

  /** The number of the line to come. */
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
    // Moving what is left at once would cost as much for each line.
    if (this.head > 4096 || this.head > this.size) {
      this.lines = this.lines.slice(this.head);
      this.head = 0;
    }
  }

  /** The line of a number; undefined for one that is not held. */
  at(number: number): Line | undefined {
    return number < this.first ? undefined : this.lines[this.head + number - this.first];
  }

  clear(): void {
    this.lines = [];
    this.head = this.first = this.bytes = 0;
  }

  /** All of the log that is held, as text. */
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
