// Characters that are not seen, and those that turn the order of what stands
// behind them, would let a text look like another one, or write over its
// neighbours. They stay in the text, so that it is copied and found as it is, each
// run of them apart from the rest and with its number to be seen.
// templates/odd.go has the same.

const odd = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/u;
const each = new RegExp(odd, "gu");
const between = new RegExp(`(${odd.source})`, "u");
const most = 32; // runs that are told one by one, and characters of a run

/** Whether a text has such characters. */
export const isOdd = (text: string): boolean => odd.test(text);

/** A part of a text; told is what is shown in its place, "" for a rest that is only kept apart, null for what stands for itself. */
export interface Piece {
  readonly text: string;
  readonly told: string | null;
}

/** The parts of a text, which together are it. */
export function pieces(text: string): Piece[] {
  const parts = text.split(between).filter((p) => p !== "");
  const some = parts.slice(0, 2 * most).map((p) => ({ text: p, told: isOdd(p) ? numbers(p) : null }));
  return parts.length <= 2 * most ? some : [...some, { text: parts.slice(2 * most).join(""), told: "" }];
}

/** The same where there is only text, as in a title. */
export const spelled = (text: string): string => (isOdd(text) ? text.replace(each, (run) => `[${numbers(run)}]`) : text);

/** The same for one that stands beside others: letters that are written from the right would turn their order. */
export const isolated = (text: string): string => (/[\u0590-\u{10ffff}]/u.test(text) ? `\u2068${spelled(text)}\u2069` : spelled(text));

function numbers(run: string): string {
  const all = [...run];
  const told = all.slice(0, most).map((c) => `U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  return `${told.join(" ")}${all.length > most ? ` and ${all.length - most} more` : ""}`;
}
