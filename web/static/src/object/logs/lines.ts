// Splits a log into lines. The log arrives in chunks, which can end within a line.

/** The container that wrote a line, in a log of several containers. */
export interface LineSource {
  readonly name: string; // pod and container, such as "web-1/main"
  readonly label: string; // a short form of the name
  readonly color: number; // number of the label's color, from 0 to colorCount - 1
}

export const colorCount = 8;

export interface Line {
  /** The time of the line in RFC 3339 format with nanoseconds. Empty if unknown. */
  readonly at: string;
  readonly text: string;
  /** The container that wrote the line. Only set in a log of several containers. */
  readonly source?: LineSource;
  /** Set if the page inserted this line as a note, for example that a new run of the container starts. */
  readonly note?: true;
}

const maxLineLength = 1 << 20; // characters; the rest of a longer line is dropped, to limit memory
const timestampPrefix = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) /;

export class LineReader {
  private pendingText = "";
  private lineEmitted = false; // whether the current line was returned at its maximum length; its rest is dropped

  /**
   * Adds a chunk of the log. Returns the lines that are complete now, and lines that have reached the maximum length.
   */
  push(text: string): Line[] {
    const lines: Line[] = [];
    for (const [n, part] of text.split("\n").entries()) {
      if (n > 0) {
        if (!this.lineEmitted) lines.push(lineOf(this.pendingText));
        this.startLine();
      }
      if (this.lineEmitted) continue;
      this.pendingText += part;
      if (this.pendingText.length <= maxLineLength) continue;
      lines.push(lineOf(`${this.pendingText.slice(0, maxLineLength)} ⋯ the rest of this line is omitted`));
      this.startLine(true);
    }
    return lines;
  }

  /** Returns the last line of the log if the log does not end with a line break. */
  end(): Line[] {
    const last = this.pendingText === "" ? [] : [lineOf(this.pendingText)];
    this.startLine();
    return last;
  }

  private startLine(emitted = false): void {
    this.pendingText = "";
    this.lineEmitted = emitted;
  }
}

function lineOf(raw: string): Line {
  const at = timestampPrefix.exec(raw)?.[1] ?? "";
  return { at, text: at === "" ? raw : raw.slice(at.length + 1) };
}

/** Removes the lines that a resumed log repeats, because the API server resumes a log at a full second. */
export class Overlap {
  private last = "";
  private equalCount = 0; // number of received lines with the same time as the newest line
  private skipCount = 0;
  private isChecking = false;

  /** The time at which to resume the log. Empty if no line has arrived. */
  get since(): string {
    return this.last;
  }

  restart(): void {
    this.skipCount = this.equalCount;
    this.isChecking = this.last !== "";
  }

  /** Removes repeated lines. `gap` is true if lines are possibly missing before the returned ones. */
  newLines(lines: readonly Line[]): { readonly lines: readonly Line[]; readonly gap: boolean } {
    const before = this.last;
    let gap = false;
    const out = lines.filter((line) => {
      if (this.isChecking && line.at !== "") {
        const order = compareTimes(line.at, before);
        if (order < 0) return false;
        if (order === 0 && this.skipCount > 0) {
          this.skipCount--;
          return false;
        }
        // The server should send the lines with the time `before` again. If it sends none of them, the log was possibly
        // truncated or rotated, so lines can be missing.
        if (this.skipCount > 0 && this.skipCount === this.equalCount) gap = true;
        this.isChecking = false;
      }
      this.recordTime(line.at);
      return true;
    });
    return { lines: out, gap };
  }

  private recordTime(at: string): void {
    if (at === "") return;
    if (at === this.last) this.equalCount++;
    else {
      this.last = at;
      this.equalCount = 1;
    }
  }
}

// Compares two times. Their fractions can have different lengths: "…06.9Z" is later than "…06.12Z".
function compareTimes(a: string, b: string): number {
  const seconds = Date.parse(a.replace(/\.\d+/, "")) - Date.parse(b.replace(/\.\d+/, ""));
  if (seconds !== 0) return seconds;
  const fraction = (t: string): string => /\.(\d+)/.exec(t)?.[1] ?? "";
  return fraction(a) < fraction(b) ? -1 : fraction(a) > fraction(b) ? 1 : 0;
}
