// The header and the column widths of the table. Widths never shrink, so that columns do not move.

import { h } from "../ui/dom.ts";
import type { TableShape } from "./row.ts";
import { cellOf, cellText } from "../model/row-source.ts";
import type { Entry, RowSource } from "../model/row-source.ts";
import { whyOf } from "../model/severity.ts";
import type { Sort } from "../model/sort.ts";
import type { Column } from "../net/wire.ts";

const maxWidth = 56; // characters; a longer text ends with an ellipsis
const relativeWidth = 9; // minimum width in characters of a column with ages; the age "<invalid>" needs 9
const longNameWidth = 253; // characters; no column is wider, because no object name is longer
const whyWidth = 24; // minimum width in characters of the column "Why", which fills the remaining space
const shapeWidth = 3; // characters; space for the shape that shows the severity, before the name

export interface TableHead {
  readonly thead: HTMLTableSectionElement;
  readonly colgroup: HTMLTableColElement;
  readonly table: HTMLTableElement;
  drawnColumns?: string; // the columns that the header shows now, as JSON
}

/**
 * Draws the table header. Unchanged columns keep their elements, so that a column selected with the keyboard stays
 * selected.
 */
export function drawHead(head: TableHead, shape: TableShape, sort: Sort | null): void {
  const columns = JSON.stringify([shape.namespace, shape.whyAt, shape.columns]);
  if (head.drawnColumns === columns && head.thead.firstElementChild !== null) return markSort(head, sort);
  head.drawnColumns = columns;
  const cell = (column: string, name: string, sortable: string, isNumber = false): HTMLElement =>
    h(
      "th",
      {
        class: column === "why" ? "why" : null,
        scope: "col",
        "aria-sort": sortState(sortable, sort),
        "data-column": column,
        "data-number": isNumber ? "" : null,
      },
      h("button", { type: "button", "data-sort": sortable, tabindex: "-1" }, name),
    );
  const cells = shape.columns.map((c) => cell(String(c.index), c.name, c.name.toLowerCase(), c.isNumber));
  if (shape.namespace) cells.unshift(cell("ns", "Namespace", "namespace"));
  if (shape.whyAt >= 0) cells.splice(shape.whyAt, 0, cell("why", "Why", "severity"));
  head.thead.replaceChildren(h("tr", { "aria-rowindex": "1" }, ...cells));
  head.table.setAttribute("aria-colcount", String(cells.length));
  head.colgroup.replaceChildren(...cells.map(() => h("col")));
}

export function markSort(head: TableHead, sort: Sort | null): void {
  for (const b of head.thead.querySelectorAll("[data-sort]"))
    b.parentElement?.setAttribute("aria-sort", sortState(b.getAttribute("data-sort") ?? "", sort));
}

function sortState(column: string, sort: Sort | null): string {
  if (sort?.column !== column) return "none";
  return sort.descending ? "descending" : "ascending";
}

/** The column widths of one table, computed from all entries (rows) that were measured so far. */
export class ColumnWidths {
  // The width of each column in characters, because cells use a monospaced font.
  private readonly chars: number[];

  constructor(private readonly shape: TableShape) {
    this.chars = shape.columns.map((c) => c.name.length + 2);
    if (shape.namespace) this.chars.unshift(11);
    if (shape.whyAt >= 0) this.chars.splice(shape.whyAt, 0, whyWidth);
  }

  /** Measures the cells of the entries. Returns true if a column became wider. */
  measure(entries: Iterable<Entry>): boolean {
    const { columns, namespace, hasVerdicts, link, whyAt } = this.shape;
    const offset = namespace ? 1 : 0;
    const position = (i: number): number => i + offset + (whyAt >= 0 && i + offset >= whyAt ? 1 : 0);
    let grown = false;
    const grow = (at: number, n: number): void => {
      if (n <= (this.chars[at] ?? 0)) return;
      this.chars[at] = Math.min(n, longNameWidth);
      grown = true;
    };
    for (const e of entries) {
      if (namespace) grow(0, e.ns.length);
      columns.forEach((c, i) => {
        const text = cellText(cellOf(e, c.index, c));
        const width = widthOf(text, c.relative);
        grow(position(i), hasVerdicts && c.index === link ? width + shapeWidth : width);
      });
    }
    return grown;
  }

  /** The sum of all column widths in characters, without padding. Each column counts as at most maxWidth. */
  get sum(): number {
    return this.chars.reduce((sum, n) => sum + Math.min(n, maxWidth), 0);
  }

  get count(): number {
    return this.chars.length;
  }

  /**
   * Sets the widths of the columns. "Why" fills the remaining space. Without "Why", the last column does. The parameter
   * `room` is the width of the table in characters. If it is larger than the sum of all columns, columns with truncated
   * texts become wider.
   */
  apply(head: TableHead, room = 0): void {
    const cols = head.colgroup.children;
    const { sum } = this;
    const filling = this.shape.whyAt >= 0 ? this.shape.whyAt : this.chars.length - 1;
    let free = Math.max(0, Math.floor(room) - sum);
    this.chars.forEach((n, i) => {
      const more = Math.min(Math.max(0, n - maxWidth), free);
      free -= more;
      const col = cols[i];
      if (col instanceof HTMLElement)
        col.style.width = i === filling ? "" : `calc(${Math.min(n, maxWidth) + more}ch + var(--cell-pad))`;
    });
    // The filling column shrinks before the table scrolls, so that its texts end with an ellipsis.
    const least = sum - Math.max(0, Math.min(this.chars[filling] ?? 0, maxWidth) - whyWidth);
    head.table.style.minWidth = `calc(${least}ch + ${this.chars.length} * var(--cell-pad))`;
  }
}

/**
 * Returns which wide columns (those that kubectl shows only with -o wide) fit into the table, as column indexes. Skips
 * columns without any value. The parameter `room` is the width of the table, and `pad` is the padding of one column,
 * both in characters.
 */
export function fittingColumns(rows: RowSource, shape: TableShape, room: number, pad: number): ReadonlySet<number> {
  const widths = new ColumnWidths(shape);
  widths.measure(rows.all());
  let longestWhy = 0;
  if (shape.whyAt >= 0)
    for (const e of rows.all()) longestWhy = Math.max(longestWhy, Math.min(whyOf(e.verdict).length, maxWidth));
  let used = widths.sum + widths.count * pad + Math.max(0, longestWhy - whyWidth);
  const fitting = new Set<number>();
  // Columns that Glasshouse adds are more useful than those of -o wide.
  const isWide = (c: Column): number => (c.extraAt === undefined ? 1 : 0);
  const optional = [...rows.columns.entries()].filter(([, c]) => c.priority > 0);
  for (const [index, c] of optional.sort(([, a], [, b]) => isWide(a) - isWide(b))) {
    let width = 0;
    for (const e of rows.all()) {
      const text = cellText(cellOf(e, index, c));
      if (!emptyTexts.has(text)) width = Math.max(width, widthOf(text, c.relative));
    }
    const needed = Math.max(Math.min(width, maxWidth), c.name.length + 2) + pad;
    if (width === 0 || !(used + needed <= room)) continue;
    used += needed;
    fitting.add(index);
  }
  return fitting;
}

// A cell of a relative column contains a timestamp of 20 characters, but shows it as an age of about 7 characters.
const widthOf = (text: string, isRelative: boolean): number =>
  isRelative ? Math.max(relativeWidth, text.length - 13) : text.length;

const emptyTexts = new Set(["", "<none>", "<unset>"]);
