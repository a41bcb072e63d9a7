// Formats keys and scalars as YAML. js-yaml quotes every string that YAML 1.1 or 1.2 would not read as a string.

import { hasInvisible } from "../text/invisible-chars.ts";
import { defineScalarTag, dump, DUMP_SCHEMA, NOT_RESOLVED, type Schema } from "js-yaml";

export type ScalarType = "string" | "number" | "word";

interface Scalar {
  readonly first: string; // text of the first line, after the key or the dash
  readonly rest: readonly string[]; // further lines of a block scalar, indented by two spaces; otherwise empty
  readonly type: ScalarType;
}

// Extends the js-yaml schema: supports bigint, and quotes strings that kubectl's parser would misread.
function schema(): Schema {
  const ambiguous = defineScalarTag("misread", {
    implicit: true,
    implicitFirstChars: [..."-+.0123456789"],
    identify: () => false,
    // kubectl's YAML parser would read these strings as a number or the end of a document, unless they are quoted.
    resolve: (text) => (/^(?:[-+]?0[xob]|[-+.\d].*_|---|\.\.\.)/i.test(text) ? text : NOT_RESOLVED),
  });
  const int = DUMP_SCHEMA.tags.find((t) => t.tagName === "tag:yaml.org,2002:int");
  if (int?.nodeKind !== "scalar") throw new Error("js-yaml has no tag for integers");
  return DUMP_SCHEMA.withTags(
    ambiguous,
    defineScalarTag(int.tagName, {
      ...int,
      // Include bigint, which decode.ts uses for integers beyond 2^53.
      identify: (v) => typeof v === "bigint" || int.identify(v),
      represent: (v) => String(v),
    }),
  );
}

const options = { schema: schema(), lineWidth: -1, noRefs: true, seqNoIndent: true, quoteStyle: "double" } as const;

// Matches most strings that need no quotes. Formatting them with js-yaml, too, would take most of the time.
const plainPattern = /^[A-Za-z][\w./+=@,;():-]*$/;
const reservedWords = new Set(["y", "n", "yes", "no", "on", "off", "true", "false", "null"]);
const isPlain = (text: string): boolean =>
  plainPattern.test(text) && !text.endsWith(":") && (text.length > 5 || !reservedWords.has(text.toLowerCase()));

export function scalar(value: unknown): Scalar {
  const type: ScalarType =
    typeof value === "string" ? "string" : typeof value === "number" || typeof value === "bigint" ? "number" : "word";
  if (type === "string" ? isPlain(value as string) : Number.isSafeInteger(value) || typeof value !== "number")
    return { first: plainText(value), rest: [], type };
  if (type === "string" && needsEscapes(value as string)) return { first: quote(value as string), rest: [], type };
  if (type === "string" && blockPattern.test(value as string)) return blockScalar(value as string);
  const [first = "", ...rest] = dumpValue(value);
  return { first, rest, type };
}

// Matches characters that change the writing direction, and so could reorder the text next to them.
const directional = /[\u202a-\u202e\u2066-\u2069]/;
const needsEscapes = (text: string): boolean => directional.test(text) || (!text.includes("\n") && hasInvisible(text));
const quote = (text: string): string =>
  JSON.stringify(text).replace(/[^\n\x20-\x7e\xa0-\xac\xae-\u0600]/gu, (c) => {
    const n = c.codePointAt(0) ?? 0;
    if (!hasInvisible(c) && n !== 0xfffe && n !== 0xffff) return c;
    return n > 0xffff ? `\\U${n.toString(16).padStart(8, "0")}` : `\\u${n.toString(16).padStart(4, "0")}`;
  });

// Matches multi-line strings that blockScalar can format. js-yaml is not used for them, because it is slow for 1 MB.
const blockPattern = /^(?=\S)(?=.*\n)[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/s;

function blockScalar(text: string): Scalar {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  const newlines = text.length - end;
  const rest = text
    .slice(0, end)
    .split("\n")
    .map((l) => (l === "" ? "" : `  ${l}`));
  for (let i = 1; i < newlines; i++) rest.push("");
  return { first: newlines === 0 ? "|-" : newlines === 1 ? "|" : "|+", rest, type: "string" };
}

const plainText = (value: unknown): string =>
  typeof value !== "object" || value === null ? String(value) : Array.isArray(value) ? "[]" : "{}";

/** Formats a map key without the colon. Returns null if the key needs the explicit form "? key". */
export function keyText(key: string): string | null {
  if (key.length < 128 && isPlain(key)) return key;
  if (hasInvisible(key) && key.length < 128) return quote(key);
  const text = dump({ [key]: 0 }, options);
  return text.endsWith(": 0\n") && !text.startsWith("? ") ? text.slice(0, -4) : null;
}

/** Formats a map key in the explicit form "? key". The caller appends ": " and the value after these lines. */
export const keyLines = (key: string): string[] =>
  needsEscapes(key)
    ? [`? ${quote(key)}`]
    : dumpValue({ [key]: 0 })
        .slice(0, -1)
        .map((l, i) => (i === 0 ? l : l.slice(2)));

// Formats a value with js-yaml, as the first element of a list. The second element, 0, prevents an end marker ("...")
// after the value.
const dumpValue = (value: unknown): string[] =>
  dump([value, 0], {
    ...options,
    sortKeys: compareKeys,
    // Single quotes make a string that contains double quotes, such as JSON, easier to read.
    quoteStyle: typeof value === "string" && value.includes('"') ? "single" : "double",
  })
    .slice(2, -"\n- 0\n".length)
    .split("\n");

const isLetter = (c: number): boolean =>
  c < 128 ? (c | 32) >= 97 && (c | 32) <= 122 : /\p{L}/u.test(String.fromCharCode(c));
const isDigit = (c: number): boolean => c >= 48 && c <= 57;

/** Sorts map keys as kubectl does: letters after other characters, and numbers by value. */
export function compareKeys(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === a.length || at === b.length) return a.length - b.length;
  const x = a.charCodeAt(at);
  const y = b.charCodeAt(at);
  const letters = Number(isLetter(x)) + Number(isLetter(y));
  if (letters === 1) return isLetter(x) ? 1 : -1;
  if (letters === 2) return x - y;
  const m = digitsEnd(a, at);
  const n = digitsEnd(b, at);
  // Within a number, a 0 is no leading zero, so the number with more remaining digits is larger.
  const isWithinNumber = (x === 48 || y === 48) && /[1-9]\d*$/.test(a.slice(0, at));
  const difference = isWithinNumber || m === n ? m - n : Number(a.slice(at, m)) - Number(b.slice(at, n));
  return difference || m - n || x - y;
}

function digitsEnd(text: string, at: number): number {
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}
