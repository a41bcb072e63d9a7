// Copies text from the YAML view, including folded (collapsed) lines.

import { columnOf, type Row } from "../../yaml/row.ts";
import type { LiveText } from "./live-text.ts";

export const completeText = (text: LiveText): string => text.rows.map((r) => `${r.line.text}\n`).join("");

/**
 * Returns the selected text of the YAML view. Returns null if no text is selected, or if the selection extends beyond
 * the YAML text.
 */
export function selectedText(text: LiveText): string | null {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
  if (!text.element.contains(startContainer) || !text.element.contains(endContainer)) return null;
  const start = position(text, startContainer, startOffset);
  const end = position(text, endContainer, endOffset);
  const lines = text.rows.slice(start.index, end.index + 1).map((r) => r.line.text);
  if (lines.length === 0) return null;
  const last = lines.length - 1;
  lines[last] = (lines[last] as string).slice(0, end.column);
  lines[0] = (lines[0] as string).slice(start.column);
  return lines.join("\n");
}

interface Position {
  readonly index: number;
  readonly column: number;
}

function position(text: LiveText, node: Node, offset: number): Position {
  if (node instanceof Text) {
    const row = text.row(node);
    if (row !== undefined) return { index: row.index, column: columnOf(row, node, offset) };
  }
  // If `node` is an element, the DOM position is directly before its child with the index `offset`.
  const child = node.childNodes[offset];
  if (child !== undefined) {
    const row = text.row(child) ?? text.row(firstLine(child));
    if (row !== undefined)
      return {
        index: row.index,
        column: child === row.element || child.contains(row.element) ? 0 : lengthBefore(row, child),
      };
  }
  const inside = text.row(node);
  if (inside !== undefined) return { index: inside.index, column: inside.line.text.length };
  const end = node instanceof Element ? text.row([...node.querySelectorAll(".line")].at(-1) ?? null) : undefined;
  const row = end ?? text.rows.at(-1);
  return { index: row?.index ?? 0, column: row?.line.text.length ?? 0 };
}

const firstLine = (node: Node): Element | null => (node instanceof Element ? node.querySelector(".line") : null);

function lengthBefore(row: Row, node: Node): number {
  const walk = document.createTreeWalker(row.element, NodeFilter.SHOW_TEXT);
  let n = 0;
  for (let t = walk.nextNode(); t !== null; t = walk.nextNode()) {
    if (node.contains(t) || (node.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0) break;
    n += (t as Text).length;
  }
  return n;
}
