// Creates the HTML elements of table rows. templates/row.templ creates the same HTML, and tests compare both with
// testdata/rows.html.

import { formatAges } from "../text/age.ts";
import { h, setAttr, setText } from "../ui/dom.ts";
import { cellOf, cellText, type Entry } from "../model/row-source.ts";
import { isCounted, showsState, whyOf } from "../model/severity.ts";
import { isEvents, objectHref } from "../model/view.ts";
import type { Column } from "../net/wire.ts";

export interface TableShape {
  readonly ref: string;
  readonly namespace: boolean; // whether rows have a cell with the namespace
  readonly link: number; // index of the column whose cells link to the object; same as linkColumn in Go
  readonly columns: readonly ShownColumn[];
  readonly hasVerdicts: boolean; // whether any listed object has a verdict (health); adds the column "Why"
  /**
   * The position of the cell "Why" (the verdict's sentence), directly after the cell with the link. It is -1 if there
   * is no such cell: if no object has a verdict, and for Events, whose message already is that sentence.
   */
  readonly whyAt: number;
}

interface ShownColumn {
  readonly index: number; // index of the column among all columns that the server sent
  readonly name: string;
  readonly relative: boolean;
  readonly showsState: boolean;
  readonly isNumber: boolean; // whether the cells are aligned to the right
  readonly extraAt?: number; // see Column
}

const typeOrName =
  /^(integer|number|ready|up-to-date|available|replicas|m(in|ax)pods|restarts|completions|capacity|duration)$/i;

/** Reports whether a column contains numbers, sizes or ages. The server has the same rule. */
export const isNumber = ({ name, type, relative, extraAt }: Column): boolean =>
  (relative && extraAt === undefined) || typeOrName.test(type) || typeOrName.test(name);

export function shapeOf(
  ref: string,
  columns: readonly Column[],
  namespace: boolean,
  cols: readonly string[],
  hasVerdicts: boolean,
  fitting: ReadonlySet<number> = new Set(), // indexes of the -o wide columns that fit into the table
): TableShape {
  const wide = cols.length === 1 && cols[0] === "wide";
  const isChosen = (name: string): boolean => cols.includes(name.toLowerCase());
  const isDefault = cols.length === 0 || wide;
  const isShown = (c: Column): boolean =>
    isDefault
      ? wide || c.priority <= 0 || fitting.has(columns.indexOf(c))
      : c.name.toLowerCase() === "name" || isChosen(c.name);
  const shown = columns
    .map((c, index) => ({
      index,
      name: c.name,
      relative: c.relative,
      showsState: showsState(c.name),
      isNumber: isNumber(c),
      ...(c.extraAt === undefined ? {} : { extraAt: c.extraAt }),
      isShown: isShown(c),
    }))
    .filter((c) => c.isShown);
  const link = shown.find((c) => c.name.toLowerCase() === "name") ?? shown.find((c) => !c.relative) ?? shown[0];
  const hasNamespace = namespace && (isDefault || isChosen("namespace"));
  const linkAt = link === undefined ? shown.length : shown.indexOf(link);
  return {
    ref,
    namespace: hasNamespace,
    link: link?.index ?? -1,
    columns: shown,
    hasVerdicts,
    whyAt: hasVerdicts && !isEvents(ref) ? linkAt + 1 + (hasNamespace ? 1 : 0) : -1,
  };
}

export function hasVerdicts(entries: Iterable<Entry>): boolean {
  for (const e of entries) if (e.verdict.severity !== "none") return true;
  return false;
}

export function emptyRow(shape: TableShape): HTMLTableRowElement {
  const cells: Element[] = shape.columns.map((c) =>
    c.index === shape.link
      ? h("th", { scope: "row" }, h("a"))
      : h("td", { "data-state": c.showsState ? "" : null, "data-number": c.isNumber ? "" : null }),
  );
  if (shape.namespace) cells.unshift(h("td", { class: "ns" }));
  if (shape.whyAt >= 0) cells.splice(shape.whyAt, 0, h("td", { class: "why" }));
  return h("tr", {}, ...cells);
}

/** A cell whose text has changed, with its previous text. */
export interface ChangedCell {
  readonly cell: Element;
  readonly before: string;
}

/** Fills the cells of a row element with the data of an entry. Returns the cells that changed. */
export function fillRow(tr: HTMLTableRowElement, shape: TableShape, e: Entry, now: number): ChangedCell[] {
  const changedCells: ChangedCell[] = [];
  tr.setAttribute("data-ns", e.ns);
  tr.setAttribute("data-name", e.name);
  const { severity } = e.verdict;
  if (isCounted(severity)) tr.setAttribute("data-severity", severity);
  else tr.removeAttribute("data-severity");
  if (shape.whyAt >= 0) {
    const why = tr.children[shape.whyAt] as Element;
    // Show a text that describes the problem, so that users do not depend on the color of the row.
    const text = whyOf(e.verdict);
    setText(why, text);
    setAttr(why, "title", text);
  }
  let at = 0;
  if (shape.namespace) setText(tr.children[at++] as Element, e.ns);
  for (const c of shape.columns) {
    if (at === shape.whyAt) at++;
    const td = tr.children[at++] as Element;
    const text = cellText(cellOf(e, c.index, c));
    const before = td.textContent ?? "";
    if (c.index === shape.link) {
      const a = td.firstElementChild as Element;
      a.setAttribute("href", objectHref(shape.ref, e));
      setText(a, text);
    } else {
      setText(td, c.relative ? formatAges(text, now) : text);
    }
    if ((c.relative ? td.getAttribute("data-wire") : before) === text) continue;
    if (c.relative) td.setAttribute("data-wire", text);
    changedCells.push({ cell: td, before });
  }
  return changedCells;
}
