// Splits text that arrives in chunks into lines. A chunk may end within a line.

export interface Line {
  /** The time of the line, RFC 3339 with nanoseconds; empty if it is not known. */
  readonly at: string;
  readonly text: string;
  /** A note about the log, not a line of it. */
  readonly note?: true;
}

const longest = 1 << 20; // characters kept of a line, so that an endless line does not use unlimited memory
const stamped = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) /;

export class LineReader {
  private rest = "";
  private told = false; // the kept part of the current line has been returned already

  /** Returns the lines that are complete, or that have reached the limit. */
  push(text: string): Line[] {
    const lines: Line[] = [];
    for (const [n, part] of text.split("\n").entries()) {
      if (n > 0) {
        if (!this.told) lines.push(lineOf(this.rest));
        this.renew();
      }
      if (this.told) continue;
      this.rest += part;
      if (this.rest.length <= longest) continue;
      lines.push(lineOf(`${this.rest.slice(0, longest)} ⋯ the rest of this line is left out`));
      this.renew(true);
    }
    return lines;
  }

  /** Returns the last line if it has no line break. */
  end(): Line[] {
    const last = this.rest === "" ? [] : [lineOf(this.rest)];
    this.renew();
    return last;
  }

  private renew(told = false): void {
    this.rest = "";
    this.told = told;
  }
}

function lineOf(raw: string): Line {
  const at = stamped.exec(raw)?.[1] ?? "";
  return { at, text: at === "" ? raw : raw.slice(at.length + 1) };
}

/**
 * Drops lines of a repeated read that were received before. The server starts at a full second, so that the last lines
 * arrive again.
 */
export class Overlap {
  private last = "";
  private equal = 0; // number of lines with exactly that time
  private skip = 0;
  private checking = false;

  /** The time from which to read the log again; empty if no line was received. */
  get since(): string {
    return this.last;
  }

  /** Call it when the log is read again from since. */
  again(): void {
    this.skip = this.equal;
    this.checking = this.last !== "";
  }

  /** Returns the lines that are new. gap: lines between the earlier ones and these may be missing. */
  fresh(lines: readonly Line[]): { readonly lines: readonly Line[]; readonly gap: boolean } {
    const before = this.last;
    let gap = false;
    const out = lines.filter((line) => {
      if (this.checking && line.at !== "") {
        const order = compareTimes(line.at, before);
        if (order < 0) return false;
        if (order === 0 && this.skip > 0) {
          this.skip--;
          return false;
        }
        // None of the earlier lines arrived again: the log was truncated or rotated.
        if (this.skip > 0 && this.skip === this.equal) gap = true;
        this.checking = false;
      }
      this.learn(line.at);
      return true;
    });
    return { lines: out, gap };
  }

  private learn(at: string): void {
    if (at === "") return;
    if (at === this.last) this.equal++;
    else {
      this.last = at;
      this.equal = 1;
    }
  }
}

// Fractions differ in length: "…06.9Z" is after "…06.12Z".
function compareTimes(a: string, b: string): number {
  const seconds = Date.parse(a.replace(/\.\d+/, "")) - Date.parse(b.replace(/\.\d+/, ""));
  if (seconds !== 0) return seconds;
  const fraction = (t: string): string => /\.(\d+)/.exec(t)?.[1] ?? "";
  return fraction(a) < fraction(b) ? -1 : fraction(a) > fraction(b) ? 1 : 0;
}
