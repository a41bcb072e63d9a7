// Splits text that arrives in chunks into lines. A chunk may end within a line.

export interface Line {
  /** The time of the line, RFC 3339 with nanoseconds; empty if it is not known. */
  readonly at: string;
  readonly text: string;
  /** Set for a note of the page about the log, as opposed to a line of the log. */
  readonly note?: true;
}

const maxLineLength = 1 << 20; // characters; the rest of a longer line is dropped, so that memory is limited
const timestampPrefix = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) /;

export class LineReader {
  private pendingText = "";
  private lineEmitted = false; // whether push has already returned the current line, because it reached the limit

  /** Adds a chunk of text. Returns the lines that are now complete, or have reached the maximum length. */
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

  /** Ends the text. Returns the last line if it has no line break; otherwise nothing. */
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

/**
 * Removes duplicate lines after a log was interrupted and is read again. The second read starts at a full second, so
 * that the last lines of the first one arrive again.
 */
export class Overlap {
  private last = "";
  private equalCount = 0; // how many lines had exactly the time last
  private skipCount = 0;
  private isChecking = false;

  /** The time from which on to read the log again, which is that of the last line; empty if there was none. */
  get since(): string {
    return this.last;
  }

  /** The caller calls this when it starts to read the log again from the time since. */
  restart(): void {
    this.skipCount = this.equalCount;
    this.isChecking = this.last !== "";
  }

  /** Returns those lines that are new. gap: whether lines between the earlier and the new ones may be missing. */
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
        // If none of the earlier lines arrived again, the log was truncated or rotated.
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

// Compares RFC 3339 times whose fractions may differ in length: "…06.9Z" is after "…06.12Z".
function compareTimes(a: string, b: string): number {
  const seconds = Date.parse(a.replace(/\.\d+/, "")) - Date.parse(b.replace(/\.\d+/, ""));
  if (seconds !== 0) return seconds;
  const fraction = (t: string): string => /\.(\d+)/.exec(t)?.[1] ?? "";
  return fraction(a) < fraction(b) ? -1 : fraction(a) > fraction(b) ? 1 : 0;
}
