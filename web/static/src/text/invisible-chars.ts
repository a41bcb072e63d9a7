// Shows the code points of invisible characters, and of characters that change the writing direction. Otherwise, they
// could make a text resemble another one, or overwrite the text next to it. The characters stay in the text, so that
// copying and searching work. Each run of them is isolated from the text around it. web/templates/invisible.go does
// the same in Go.

const invisible = new RegExp(
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e" +
    "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]+",
  "u",
);
const invisibleGlobal = new RegExp(invisible, "gu");
const invisibleSplit = new RegExp(`(${invisible.source})`, "u");
const maxRuns = 32; // maximum number of runs whose code points are shown, and of characters in each run

/** Reports whether a text contains invisible characters, or characters that change the writing direction. */
export const hasInvisible = (text: string): boolean => invisible.test(text);

/**
 * A part of a text. codePoints is the text to show instead of the part, because the part consists of invisible
 * characters. It is null if the part is shown unchanged. It is "" if the part is shown unchanged but isolated,
 * because it contains too many runs of invisible characters.
 */
export interface TextPart {
  readonly text: string;
  readonly codePoints: string | null;
}

/**
 * Splits a text into runs of invisible characters and the parts between them. The concatenated parts equal the text.
 */
export function splitInvisible(text: string): TextPart[] {
  const parts = text.split(invisibleSplit).filter((p) => p !== "");
  const shownParts = parts
    .slice(0, 2 * maxRuns)
    .map((p) => ({ text: p, codePoints: hasInvisible(p) ? codePointsOf(p) : null }));
  return parts.length <= 2 * maxRuns
    ? shownParts
    : [...shownParts, { text: parts.slice(2 * maxRuns).join(""), codePoints: "" }];
}

/**
 * Replaces invisible characters by their code points. It is for places that allow only plain text, such as tooltips.
 */
export const escapeInvisible = (text: string): string =>
  (hasInvisible(text) ? text.replace(invisibleGlobal, (run) => `[${codePointsOf(run)}]`) : text);

/**
 * Escapes a text that is inserted into another one. It works as escapeInvisible, but also isolates right-to-left
 * letters from the text around them.
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
