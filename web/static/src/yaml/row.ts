// The rows of a YAML text. Even lines outside the viewport have elements, so that users can select and search them.

import { h } from "../ui/dom.ts";
import { formatInteger } from "../text/format.ts";
import type { Line } from "./writer.ts";

export interface Row {
  line: Line;
  readonly element: HTMLElement;
  block: Block | null; // the block that contains the row; null until the row is added to a block
  index: number; // index in the current text; -1 if the text does not contain the row
  folded: boolean;
  hidden: boolean; // true while a parent row is folded
  found: readonly number[] | null; // start and end of each match of the search; null before the search
}

export interface Block {
  readonly element: HTMLElement;
  rows: Row[];
  shown: number; // number of visible rows in the block
}

export const blockSize = 64; // lines in a new block (a group of lines)
const initialLength = 1000; // characters of a long line that are shown until the user shows its rest
const pieceLength = 2000;

export function newRow(line: Line): Row {
  const { text } = line;
  const element = textElement(
    "line",
    text.length <= initialLength + 200 ? text : text.slice(0, safeCut(text, initialLength)),
  );
  const shown = element.firstChild instanceof Text ? element.firstChild.length : 0;
  if (shown < text.length) element.append(moreButton(text.length - shown), restElement(text, shown));
  return { line, element, block: null, index: -1, folded: false, hidden: false, found: null };
}

// Creates an element with exactly one text node. The function textNodes relies on this: it reads only the first child.
function textElement(name: string, text: string): HTMLElement {
  const element = h("div", { class: name });
  // The YAML writer has already escaped invisible characters.
  element.textContent = text;
  return element;
}

/** Returns a group of lines. The browser skips the layout of blocks outside the viewport. */
export const newBlock = (): Block => ({ element: h("div", { class: "block" }), rows: [], shown: -1 });

/** Returns the maximum width of a line, in columns of the monospaced font. */
export const maxColumns = ({ text, isWide: wide }: Line): number =>
  Math.min(text.length, initialLength + 200) * (wide ? 2 : 1);

export function showRest(row: Row): void {
  row.element.classList.add("open");
  row.element.querySelector(":scope > .rest")?.removeAttribute("hidden");
  row.element.querySelector(":scope > .more")?.remove();
}

/** Returns the text node that contains a character of a row, and the character's offset in that node. */
export function textPosition(row: Row, column: number): [Text, number] | null {
  let remaining = column;
  for (const text of textNodes(row.element)) {
    if (remaining <= text.length) return [text, remaining];
    remaining -= text.length;
  }
  return null;
}

/** Converts an offset in a text node of a row to the index of a character in the line. */
export function columnOf(row: Row, node: Text, offset: number): number {
  let before = 0;
  for (const text of textNodes(row.element)) {
    if (text === node) return before + offset;
    before += text.length;
  }
  return 0;
}

function* textNodes(line: Element): Generator<Text> {
  if (line.firstChild instanceof Text) yield line.firstChild;
  for (const p of line.querySelector(":scope > .rest")?.children ?? [])
    if (p.firstChild instanceof Text) yield p.firstChild;
}

function moreButton(length: number): HTMLElement {
  const words = `${formatInteger(length)} more characters`;
  return h("button", { type: "button", class: "more", "data-words": words, "aria-label": `Show ${words}` });
}

function restElement(text: string, from: number): HTMLElement {
  const element = h("div", { class: "rest", hidden: "until-found" });
  while (from < text.length) {
    const to = safeCut(text, from + pieceLength);
    element.append(textElement("piece", text.slice(from, to)));
    from = to;
  }
  return element;
}

/** Returns a position at which to cut a text: `at`, or one character later if `at` would split a surrogate pair. */
export function safeCut(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at + 1 : Math.min(at, text.length);
}
