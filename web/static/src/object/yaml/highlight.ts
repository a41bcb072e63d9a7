// Colors lines by the CSS Custom Highlight API, which preserves selections and the browser's own search.

import type { Hit, Search } from "./search.ts";
import { range } from "./search.ts";
import type { Block, Row } from "../../yaml/row.ts";

const names = ["key", "string", "number", "word", "found", "current"] as const;
type Name = (typeof names)[number];

/**
 * Colors the lines in the blocks. If matchesOnly is true, it colors only the matches of the search, not the YAML
 * syntax.
 */
export function highlightLines(blocks: Iterable<Block>, search: Search, matchesOnly: boolean): void {
  if (!("highlights" in CSS)) return; // without this browser API, the text has no colors
  const ranges: Record<Name, AbstractRange[]> = { key: [], string: [], number: [], word: [], found: [], current: [] };
  for (const { rows } of blocks) {
    for (const row of rows) {
      if (row.hidden) continue;
      if (!matchesOnly) highlightSyntax(row, ranges);
      if (row.found !== null) highlightMatches(row, search.current, ranges);
    }
  }
  names.forEach((name, i) => {
    const highlight = new Highlight(...ranges[name]);
    highlight.priority = i;
    CSS.highlights.set(`yaml-${name}`, highlight);
  });
}

export function clearHighlights(): void {
  if ("highlights" in CSS) for (const name of names) CSS.highlights.delete(`yaml-${name}`);
}

function highlightSyntax({ line, element }: Row, ranges: Record<Name, AbstractRange[]>): void {
  const node = element.firstChild;
  if (!(node instanceof Text)) return;
  const add = (name: Name, from: number, to: number): void => {
    const endOffset = Math.min(to, node.length);
    if (from < endOffset)
      ranges[name].push(new StaticRange({ startContainer: node, startOffset: from, endContainer: node, endOffset }));
  };
  add("key", line.from, line.to);
  const value = line.to > 0 ? line.to + 2 : (/^ *(?:- )*/.exec(line.text)?.[0].length ?? 0);
  if (line.type !== null) add(line.type, value, line.text.length);
}

function highlightMatches(row: Row, current: Hit | null, ranges: Record<Name, AbstractRange[]>): void {
  const found = row.found ?? [];
  // Mark only the first 1,000 matches in a line, because more cannot be distinguished. `found` has two numbers per
  // match.
  for (let i = 0; i < found.length && i < 2000; i += 2) {
    const r = range(row, found[i] ?? 0, found[i + 1] ?? 0);
    if (r !== null) ranges[current?.row === row && current.at === found[i] ? "current" : "found"].push(r);
  }
}
