// Invisible characters, and characters that change the direction of the text after them, could make a text look like
// another one, or overwrite its neighbors. They stay in the text, so that copy and search work. Each run of them is
// isolated from the rest, and its code points are shown. web/templates/odd.go does the same in Go.

const odd =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/u;
const each = new RegExp(odd, "gu");
const between = new RegExp(`(${odd.source})`, "u");
const most = 32; // how many runs of such characters are shown one by one, and how many characters of each

/** Whether a text contains invisible characters, or characters that change the writing direction. */
export const isOdd = (text: string): boolean => odd.test(text);

/**
  * A part of a text. told: what to show in place of the part, the code points of odd characters. null: show the part as
  * it is. "": show it as it is, but isolated, because there are too many odd characters to show each.
 */
export interface Piece {
  readonly text: string;
  readonly told: string | null;
}

/** Splits a text into runs of odd characters and the parts between. All parts joined are the text. */
export function pieces(text: string): Piece[] {
  const parts = text.split(between).filter((p) => p !== "");
  const some = parts.slice(0, 2 * most).map((p) => ({ text: p, told: isOdd(p) ? numbers(p) : null }));
  return parts.length <= 2 * most ? some : [...some, { text: parts.slice(2 * most).join(""), told: "" }];
}

/** Replaces odd characters by their code points, for places that allow only plain text, such as a tooltip. */
export const spelled = (text: string): string =>
  (isOdd(text) ? text.replace(each, (run) => `[${numbers(run)}]`) : text);

/** Like spelled, for a text inside another one. Right-to-left letters in it are isolated from the text around it. */
export const isolated = (text: string): string =>
  (/[\u0590-\u{10ffff}]/u.test(text) ? `\u2068${spelled(text)}\u2069` : spelled(text));

function numbers(run: string): string {
  const all = [...run];
  const told = all.slice(0, most).map(
    (c) =>
      `U+${(c.codePointAt(0) ?? 0)
        .toString(16)
        .toUpperCase()
        .padStart(4, "0")}`,
  );
  return `${told.join(" ")}${all.length > most ? ` and ${all.length - most} more` : ""}`;
}
