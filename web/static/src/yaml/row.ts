// The elements of lines. All of a text is in the page, so that the browser finds
// and selects in it; blocks of lines are what the browser lays out, or leaves
// out where nobody looks. Of a very long line the head is laid out, and the rest
// when it is asked for, or something is found in it.

import { digits, h } from "../dom.ts";
import type { Line } from "./write.ts";

export interface Row {
  line: Line;
  readonly element: HTMLElement;
  block: Block | null; // null until it is in one
  index: number; // among the rows that are shown; -1 until it is one
  folded: boolean;
  hidden: boolean; // by a fold
  found: readonly number[] | null; // where what is searched begins and ends; null until it is searched
}

export interface Block {
  readonly element: HTMLElement;
  rows: Row[];
  shown: number; // rows that no fold hides
}

export const blockSize = 64; // lines
const head = 1000; // characters of a line that are laid out at once
const piece = 2000;

/** A row of a line, in no block yet. */
export function newRow(line: Line): Row {
  const { text } = line;
  const element = one("line", text.length <= head + 200 ? text : text.slice(0, cut(text, head)));
  const shown = element.firstChild instanceof Text ? element.firstChild.length : 0;
  if (shown < text.length) element.append(more(text.length - shown), rest(text, shown));
  return { line, element, block: null, index: -1, folded: false, hidden: false, found: null };
}

// One text node, in which places are counted; what would be odd in it, YAML has written by its number.
function one(name: string, text: string): HTMLElement {
  const element = h("div", { class: name });
  element.textContent = text;
  return element;
}

export const newBlock = (): Block => ({ element: h("div", { class: "block" }), rows: [], shown: -1 });

/** How wide a line is at most, in characters of one width. */
export const columns = ({ text, wide }: Line): number => Math.min(text.length, head + 200) * (wide ? 2 : 1);

/** Shows all of a long line. */
export function openRest(row: Row): void {
  row.element.classList.add("open");
  row.element.querySelector(":scope > .rest")?.removeAttribute("hidden");
  row.element.querySelector(":scope > .more")?.remove();
}

/** Where a character of a row's text is in the page: the text node, and the offset in it. */
export function place(row: Row, column: number): [Text, number] | null {
  let left = column;
  for (const text of texts(row.element)) {
    if (left <= text.length) return [text, left];
    left -= text.length;
  }
  return null;
}

/** Which character of a row's text a place in it is. */
export function column(row: Row, node: Text, offset: number): number {
  let before = 0;
  for (const text of texts(row.element)) {
    if (text === node) return before + offset;
    before += text.length;
  }
  return 0;
}

function* texts(line: Element): Generator<Text> {
  if (line.firstChild instanceof Text) yield line.firstChild;
  for (const p of line.querySelector(":scope > .rest")?.children ?? []) if (p.firstChild instanceof Text) yield p.firstChild;
}

function more(length: number): HTMLElement {
  const words = `${digits(length)} more characters`;
  return h("button", { type: "button", class: "more", "data-words": words, "aria-label": `Show ${words}` });
}

function rest(text: string, from: number): HTMLElement {
  const element = h("div", { class: "rest", hidden: "until-found" });
  while (from < text.length) {
    const to = cut(text, from + piece);
    element.append(one("piece", text.slice(from, to)));
    from = to;
  }
  return element;
}

/** Where to cut a text: here, or behind the other half of a character. */
export function cut(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at + 1 : Math.min(at, text.length);
}
