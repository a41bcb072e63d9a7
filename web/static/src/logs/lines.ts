// Lines out of text that comes in pieces, cut in the midst of a line.

export interface Line {
  /** When it was written, RFC 3339 with nanoseconds; empty where that is not told. */
  readonly at: string;
  readonly text: string;
  /** It is no line of the log, but says something of it. */
  readonly note?: true;
}

const longest = 256 << 10; // characters; a line that goes on is cut there, lest it be held for ever
const stamped = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) /;

export class LineReader {
  private rest = "";

  /** The lines that have come to their end. */
  push(text: string): Line[] {
    const parts = text.split("\n");
    parts[0] = this.rest + (parts[0] ?? "");
    this.rest = parts.pop() ?? "";
    const lines = parts.map(lineOf);
    if (this.rest.length > longest) lines.push(...this.end());
    return lines;
  }

  /** The last line, where it has no end. */
  end(): Line[] {
    const last = this.rest === "" ? [] : [lineOf(this.rest)];
    this.rest = "";
    return last;
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
