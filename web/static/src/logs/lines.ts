// Lines out of text that comes in pieces, cut in the midst of a line.

export interface Line {
  /** When it was written, RFC 3339 with nanoseconds; empty where that is not told. */
  readonly at: string;
  readonly text: string;
  /** It is no line of the log, but says something of it. */
  readonly note?: true;
}

const longest = 1 << 20; // characters of a line that are kept, lest one that goes on is held for ever
const stamped = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) /;

export class LineReader {
  private rest = "";
  private told = false; // what is kept of the line that goes on

  /** The lines that have come to their end, or to what is kept of one. */
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

  /** The last line, where it has no end. */
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
 * Leaves out of a log that is read again what is held of it already. The server
 * reads from a second on, so that what was last comes once more.
 */
export class Overlap {
  private last = "";
  private equal = 0; // how many lines were written at that very time
  private skip = 0;
  private checking = false;

  /** From when on the log is to be read again; empty where nothing is held. */
  get since(): string {
    return this.last;
  }

  /** The log is read again from there. */
  again(): void {
    this.skip = this.equal;
    this.checking = this.last !== "";
  }

  /** What is new of these lines; gap: some between what is held and these may be missing. */
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
        // Nothing of what was held came again: the server has cut it off.
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
