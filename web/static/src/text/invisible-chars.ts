// Invisible characters, and characters that change the direction of the text after them, could make a text resemble
// another one, or overwrite its neighbors. They stay in the text, so that copy and search work. Each run of them is
// isolated from the rest, and its code points are shown. web/templates/invisible.go does the same in Go.

const invisible = new RegExp(
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e" +
    "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]+",
  "u",
);
const invisibleGlobal = new RegExp(invisible, "gu");
const invisibleSplit = new RegExp(`(${invisible.source})`, "u");
const maxRuns = 32; // how many runs of such characters are shown one by one, and how many characters of each

/** Whether a text contains invisible characters, or characters that change the writing direction. */
export const hasInvisible = (text: string): boolean => invisible.test(text);

/**
 * A part of a text. codePoints: the code points of its invisible characters, to show in place of the part; null to show
 * the part as it is; "" to show it as it is but isolated, because it has too many such characters to show each.
 */
export interface TextPart {
  readonly text: string;
  readonly codePoints: string | null;
}

/** Splits a text into runs of odd characters and the parts between. All parts joined are the text. */
export function splitInvisible(text: string): TextPart[] {
  const parts = text.split(invisibleSplit).filter((p) => p !== "");
  const shownParts = parts
    .slice(0, 2 * maxRuns)
    .map((p) => ({ text: p, codePoints: hasInvisible(p) ? codePointsOf(p) : null }));
  return parts.length <= 2 * maxRuns
    ? shownParts
    : [...shownParts, { text: parts.slice(2 * maxRuns).join(""), codePoints: "" }];
}

/** Replaces odd characters by their code points, for places that allow only plain text, such as a tooltip. */
export const escapeInvisible = (text: string): string =>
  (hasInvisible(text) ? text.replace(invisibleGlobal, (run) => `[${codePointsOf(run)}]`) : text);

/**
 * Like escapeInvisible, for a text inside another one. Right-to-left letters in it are isolated from the text around
 * it.
 */
export const isolateText = (text: string): string =>
  (/[\u0590-\u{10ffff}]/u.test(text) ? `\u2068${escapeInvisible(text)}\u2069` : escapeInvisible(text));

function codePointsOf(run: string): string {
  const all = [...run];
  const shown = all.slice(0, maxRuns).map(
    (c) =>
      `U+${(c.codePointAt(0) ?? 0)
        .toString(16)
        .toUpperCase()
        .padStart(4, "0")}`,
  );
  return `${shown.join(" ")}${all.length > maxRuns ? ` and ${all.length - maxRuns} more` : ""}`;
}
