// Formats an object as YAML as kubectl does. The lines of unchanged maps and lists are cached.

import { compareKeys, keyLines, keyText, scalar, type ScalarType } from "./scalar.ts";
import type { JsonObject } from "../net/wire.ts";

export interface Line {
  readonly text: string;
  /** The start and the end of the key in the line. Both are 0 in a line without a key. */
  readonly from: number;
  readonly to: number;
  /** The type of the value in the line. null if the line contains no value. */
  readonly type: ScalarType | null;
  /** The number of following lines that are nested in this line. Folding this line hides them. */
  readonly nestedCount: number;
  /** Whether the line contains characters that are wider than one column of a monospaced font. */
  readonly isWide: boolean;
}

type Part = readonly unknown[] | JsonObject | string; // a nonempty map or list, or a long text, with cached lines
interface CachedLines {
  readonly indent: number;
  readonly lines: readonly Line[];
}

const minCachedLength = 2000; // characters; shorter texts are not cached
const maxCachedLength = 4_000_000;
const widePattern = /[\u1100-\uffff]/;
const line = (text: string, from = 0, to = 0, type: ScalarType | null = null, inner = 0): Line => ({
  text,
  from,
  to,
  type,
  nestedCount: inner,
  isWide: widePattern.test(text),
});

export class YamlWriter {
  private readonly trees = new WeakMap<object, CachedLines>();
  private readonly texts = new Map<string, CachedLines>();
  private cachedLength = 0; // total number of characters of the cached texts
  private readonly keys = new Map<string, string | null>();

  /** Returns all lines of an object. Stops and returns null if pauseIfDue, called after each part, returns false. */
  async write(object: JsonObject, pauseIfDue: () => Promise<boolean> | true): Promise<readonly Line[] | null> {
    for (const [part, indent] of this.uncachedParts(object, 0, [])) {
      if (typeof part === "string") this.text(part, indent);
      else this.lines(part, indent);
      const proceed = pauseIfDue();
      if (proceed !== true && !(await proceed)) return null;
    }
    return isTree(object) ? this.lines(object, 0) : [line("{}", 0, 0, "word")];
  }

  writeNow(value: unknown): readonly Line[] {
    return isTree(value) ? this.lines(value, 0) : createLines(value, 2);
  }

  // Appends to `out` each part whose lines are not cached yet. Nested parts are before the part that contains them.
  private uncachedParts(value: unknown, indent: number, out: [Part, number][]): [Part, number][] {
    if (typeof value === "string" && value.length >= minCachedLength) out.push([value, indent]);
    if (!isTree(value)) return out;
    if (this.trees.get(value)?.indent === indent) return out;
    const list = Array.isArray(value);
    for (const v of Object.values(value)) this.uncachedParts(v, list || !Array.isArray(v) ? indent + 2 : indent, out);
    out.push([value, indent]);
    return out;
  }

  private lines(value: readonly unknown[] | JsonObject, indent: number): readonly Line[] {
    const cached = this.trees.get(value);
    if (cached?.indent === indent) return cached.lines;
    const out: Line[] = [];
    if (Array.isArray(value)) for (const item of value) this.item(item, indent, out);
    else
      for (const key of Object.keys(value).sort(compareKeys)) this.entry(key, (value as JsonObject)[key], indent, out);
    this.trees.set(value, { indent, lines: out });
    return out;
  }

  private entry(key: string, value: unknown, indent: number, out: Line[]): void {
    const text = this.key(key);
    const pad = " ".repeat(indent);
    if (text === null) {
      const [head = "", ...more] = keyLines(key);
      const valueRows: Line[] = [];
      this.item(value, indent, valueRows);
      const [first, ...rest] = valueRows;
      if (first === undefined) return;
      out.push(line(pad + head, 0, 0, null, more.length + valueRows.length));
      append(
        out,
        more.map((l) => line(withIndent(pad, l))),
      );
      out.push(line(`${pad}: ${first.text.slice(indent + 2)}`, first.from, first.to, first.type, rest.length));
      append(out, rest);
      return;
    }
    const to = indent + text.length;
    if (isTree(value)) {
      const nestedCount = this.lines(value, Array.isArray(value) ? indent : indent + 2);
      out.push(line(`${pad}${text}:`, indent, to, null, nestedCount.length));
      append(out, nestedCount);
      return;
    }
    const [first, ...rest] = this.scalar(value, indent + 2);
    out.push(line(`${pad}${text}: ${first?.text ?? ""}`, indent, to, first?.type ?? null, rest.length));
    append(out, rest);
  }

  private item(value: unknown, indent: number, out: Line[]): void {
    const lines = isTree(value) ? this.lines(value, indent + 2) : this.scalar(value, indent + 2);
    const [first, ...rest] = lines;
    if (first === undefined) return;
    const text = isTree(value) ? first.text.slice(indent + 2) : first.text;
    out.push(line(`${" ".repeat(indent)}- ${text}`, first.from, first.to, first.type, rest.length));
    append(out, rest);
  }

  // Returns the lines of a scalar. The first line contains only the text after the key or the dash.
  private scalar(value: unknown, indent: number): readonly Line[] {
    if (typeof value === "string" && value.length >= minCachedLength) return this.text(value, indent);
    return createLines(value, indent);
  }

  private text(value: string, indent: number): readonly Line[] {
    const cached = this.texts.get(value);
    if (cached?.indent === indent) return cached.lines;
    const lines = createLines(value, indent);
    this.cachedLength += value.length;
    if (this.cachedLength > maxCachedLength) {
      this.texts.clear();
      this.cachedLength = value.length;
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

export const yamlLines = (value: unknown): string[] => new YamlWriter().writeNow(value).map((l) => l.text);

function isTree(v: unknown): v is readonly unknown[] | JsonObject {
  if (typeof v !== "object" || v === null) return false;
  for (const _ in v) return true;
  return false;
}

function createLines(value: unknown, indent: number): readonly Line[] {
  const { first, rest, type } = scalar(value);
  const pad = " ".repeat(indent - 2);
  return [line(first, 0, 0, type), ...rest.map((r) => line(withIndent(pad, r), 0, 0, type))];
}

const withIndent = (pad: string, text: string): string => (text === "" ? "" : pad + text);

// Appends the lines one by one. A single push(...lines) with 100,000 lines would exceed the maximum number of
// arguments.
function append(out: Line[], lines: readonly Line[]): void {
  for (const l of lines) out.push(l);
}
