// Shows the code points of invisible or direction-changing characters, so that no text imitates another.
// web/templates/invisible.go does the same.

const invisible = new RegExp(
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e" +
    "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]+",
  "u",
);
const invisibleGlobal = new RegExp(invisible, "gu");
const invisibleSplit = new RegExp(`(${invisible.source})`, "u");
const maxRuns = 32; // maximum number of runs (sequences) of invisible characters to show, and of code points per run

/** Whether a text contains invisible characters, or characters that change the writing direction. */
export const hasInvisible = (text: string): boolean => invisible.test(text);

/**
 * A part of a text. If `codePoints` is null, the page shows `text` unchanged. If it is "" (beyond the limit maxRuns),
 * the page isolates `text`, so that a change of direction in it does not affect other text. Otherwise, the page shows
 * `codePoints` in place of `text`.
 */
interface TextPart {
  readonly text: string;
  readonly codePoints: string | null;
}

/** Splits a text into parts. No part drops or changes characters, so copying and searching the text still work. */
export function splitInvisible(text: string): TextPart[] {
  const parts = text.split(invisibleSplit).filter((p) => p !== "");
  const shownParts = parts
    .slice(0, 2 * maxRuns)
    .map((p) => ({ text: p, codePoints: hasInvisible(p) ? codePointsOf(p) : null }));
  return parts.length <= 2 * maxRuns
    ? shownParts
    : [...shownParts, { text: parts.slice(2 * maxRuns).join(""), codePoints: "" }];
}

/** Replaces invisible characters with their code points, where only plain text is possible, such as in tooltips. */
export const escapeInvisible = (text: string): string =>
  hasInvisible(text) ? text.replace(invisibleGlobal, (run) => `[${codePointsOf(run)}]`) : text;

/**
 * Works like escapeInvisible. The caller inserts the result into another text. Encloses a text that can contain
 * right-to-left letters in isolate characters, so that the other text keeps its order.
 */
export const isolateText = (text: string): string =>
  /[\u0590-\u{10ffff}]/u.test(text) ? `\u2068${escapeInvisible(text)}\u2069` : escapeInvisible(text);

function codePointsOf(run: string): string {
  const all = [...run];
  const shown = all
    .slice(0, maxRuns)
    .map((c) => `U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  return `${shown.join(" ")}${all.length > maxRuns ? ` and ${all.length - maxRuns} more` : ""}`;
}
