// Formats an object as lines of YAML in the style of kubectl: keys sorted, lists not indented. The lines of each part
// of an object are cached by the identity of the part, which stays if a patch does not change it. So the cost of an
// update depends only on the size of the change.

import { compareKeys, keyLines, keyText, scalar, type Tone } from "./scalar.ts";
import type { Tree } from "../wire.ts";

export interface Line {
  readonly text: string;
  /** The start and end of the key in the line; both are 0 in a line without a key. */
  readonly from: number;
  readonly to: number;
  /** The type of the value after the key; null for none. */
  readonly tone: Tone | null;
  /** The number of lines after this one that are nested in it, and are hidden when it is folded. */
  readonly inner: number;
  /** Whether the line contains characters that are wider than others. */
  readonly wide: boolean;
}

type Part = readonly unknown[] | Tree | string; // a part worth caching: a nonempty map or list, or a long text
interface Written {
  readonly indent: number;
  readonly lines: readonly Line[];
}

const long = 2000; // minimum length in characters of a cached text
const mostHeld = 4_000_000;
const wide = /[\u1100-\uffff]/;
const line = (text: string, from = 0, to = 0, tone: Tone | null = null, inner = 0): Line => ({
  text,
  from,
  to,
  tone,
  inner,
  wide: wide.test(text),
});

export class Writer {
  private readonly trees = new WeakMap<object, Written>();
  private readonly texts = new Map<string, Written>();
  private held = 0; // total characters of cached texts
  private readonly keys = new Map<string, string | null>();

  /**
   * Returns all lines of an object. Between parts of the work, it awaits rest. If that returns false, it stops and
   * returns null.
   */
  async write(object: Tree, rest: () => Promise<boolean> | true): Promise<readonly Line[] | null> {
    for (const [part, indent] of this.missing(object, 0, [])) {
      if (typeof part === "string") this.text(part, indent);
      else this.lines(part, indent);
      const go = rest();
      if (go !== true && !(await go)) return null;
    }
    return isTree(object) ? this.lines(object, 0) : [line("{}", 0, 0, "word")];
  }

  /** Returns all lines of a value at once, without pauses in the work. */
  now(value: unknown): readonly Line[] {
    return isTree(value) ? this.lines(value, 0) : made(value, 2);
  }

  // Returns the parts of the value of which the lines are not cached yet, nested parts before those that contain them.
  private missing(value: unknown, indent: number, out: [Part, number][]): [Part, number][] {
    if (typeof value === "string" && value.length >= long) out.push([value, indent]);
    if (!isTree(value)) return out;
    if (this.trees.get(value)?.indent === indent) return out;
    const list = Array.isArray(value);
    for (const v of Object.values(value)) this.missing(v, list || !Array.isArray(v) ? indent + 2 : indent, out);
    out.push([value, indent]);
    return out;
  }

  private lines(value: readonly unknown[] | Tree, indent: number): readonly Line[] {
    const known = this.trees.get(value);
    if (known?.indent === indent) return known.lines;
    const out: Line[] = [];
    if (Array.isArray(value)) for (const item of value) this.item(item, indent, out);
    else for (const key of Object.keys(value).sort(compareKeys)) this.entry(key, (value as Tree)[key], indent, out);
    this.trees.set(value, { indent, lines: out });
    return out;
  }

  private entry(key: string, value: unknown, indent: number, out: Line[]): void {
    const text = this.key(key);
    const pad = " ".repeat(indent);
    if (text === null) {
      const [head = "", ...more] = keyLines(key);
      const behind: Line[] = [];
      this.item(value, indent, behind);
      const [first, ...rest] = behind;
      if (first === undefined) return;
      out.push(line(pad + head, 0, 0, null, more.length + behind.length));
      append(out, more.map((l) => line(padded(pad, l))));
      out.push(line(`${pad}: ${first.text.slice(indent + 2)}`, first.from, first.to, first.tone, rest.length));
      append(out, rest);
      return;
    }
    const to = indent + text.length;
    if (isTree(value)) {
      const inner = this.lines(value, Array.isArray(value) ? indent : indent + 2);
      out.push(line(`${pad}${text}:`, indent, to, null, inner.length));
      append(out, inner);
      return;
    }
    const [first, ...rest] = this.scalar(value, indent + 2);
    out.push(line(`${pad}${text}: ${first?.text ?? ""}`, indent, to, first?.tone ?? null, rest.length));
    append(out, rest);
  }

  private item(value: unknown, indent: number, out: Line[]): void {
    const lines = isTree(value) ? this.lines(value, indent + 2) : this.scalar(value, indent + 2);
    const [first, ...rest] = lines;
    if (first === undefined) return;
    const text = isTree(value) ? first.text.slice(indent + 2) : first.text;
    out.push(line(`${" ".repeat(indent)}- ${text}`, first.from, first.to, first.tone, rest.length));
    append(out, rest);
  }

  // Returns the lines of a scalar. The first is only the text after a key or a dash; the others are complete lines.
  private scalar(value: unknown, indent: number): readonly Line[] {
    if (typeof value === "string" && value.length >= long) return this.text(value, indent);
    return made(value, indent);
  }

  private text(value: string, indent: number): readonly Line[] {
    const known = this.texts.get(value);
    if (known?.indent === indent) return known.lines;
    const lines = made(value, indent);
    this.held += value.length;
    if (this.held > mostHeld) {
      this.texts.clear();
      this.held = value.length;
    }
    this.texts.set(value, { indent, lines });
    return lines;
  }

  private key(key: string): string | null {
    let text = this.keys.get(key);
    if (text === undefined) {
      text = keyText(key);
      if (this.keys.size > 20_000) this.keys.clear();
      this.keys.set(key, text);
    }
    return text;
  }
}

/** Returns the lines of a value without caching. */
export const yamlLines = (value: unknown): string[] => new Writer().now(value).map((l) => l.text);

function isTree(v: unknown): v is readonly unknown[] | Tree {
  if (typeof v !== "object" || v === null) return false;
  for (const _ in v) return true;
  return false;
}

function made(value: unknown, indent: number): readonly Line[] {
  const { first, rest, tone } = scalar(value);
  const pad = " ".repeat(indent - 2);
  return [line(first, 0, 0, tone), ...rest.map((r) => line(padded(pad, r), 0, 0, tone))];
}

const padded = (pad: string, text: string): string => (text === "" ? "" : pad + text);

// Appends lines to out. A single push(...lines) with a hundred thousand lines would exceed the argument limit.
function append(out: Line[], lines: readonly Line[]): void {
  for (const l of lines) out.push(l);
}
