// Which columns are shown, as the URL encodes it: empty for the default columns, "wide" for all, else their names.

import type { Sort } from "./sort.ts";
import type { Column } from "../net/wire.ts";

/** A column that the user can show or hide. */
export interface ColumnChoice {
  readonly name: string; // the name as in the URL
  readonly label: string;
  readonly wide: boolean; // whether kubectl shows the column only with -o wide
  readonly shown: boolean;
  /** Whether the column is always shown, because it names the object. */
  readonly fixed: boolean;
}

const isWide = (cols: readonly string[]): boolean => cols.length === 1 && cols[0] === "wide";

/** Returns the columns of a table, with a namespace column if the resource is namespaced. */
export function columnChoices(
  columns: readonly Column[],
  namespaced: boolean,
  cols: readonly string[],
): ColumnChoice[] {
  const all = columns.map((c) => ({ name: c.name.toLowerCase(), label: c.name, wide: c.priority > 0 }));
  if (namespaced) all.unshift({ name: "namespace", label: "Namespace", wide: false });
  return all.map((c) => {
    const fixed = c.name === "name";
    return { ...c, fixed, shown: isWide(cols) || (cols.length === 0 ? !c.wide : fixed || cols.includes(c.name)) };
  });
}

/** Encodes the chosen columns for the URL, in the shortest form. */
export function encodeColumns(all: readonly ColumnChoice[]): string[] {
  if (all.every((c) => c.shown === !c.wide)) return [];
  if (all.every((c) => c.shown)) return ["wide"];
  return all.filter((c) => c.shown).map((c) => c.name);
}

/**
 * Returns a message if the URL names columns that do not exist, to sort by or to show. The message lists the existing
 * columns. Returns null if all exist, or if no columns are known yet. unknownColumnsNote in web/templates/listtext.go
 * is the same in Go.
 */
export function unknownColumnsText(
  columns: readonly Column[],
  namespaced: boolean,
  sort: Sort | null,
  cols: readonly string[],
): string | null {
  const existing = [...(namespaced ? ["namespace"] : []), ...columns.map((c) => c.name.toLowerCase())];
  const unknownSort = sort === null || existing.includes(sort.column) ? [] : [sort.column];
  const unknownShown = isWide(cols) ? [] : cols.filter((c) => !existing.includes(c));
  const parts = ([
    [unknownSort, "sort by"],
    [unknownShown, "show"],
  ] as const)
    .filter(([names]) => names.length > 0)
    .map(([names, what]) => `${names.map((n) => `“${n}”`).join(" or ")} to ${what}`);
  return columns.length === 0 || parts.length === 0
    ? null
    : `No column ${parts.join(", and no column ")}. Available: ${existing.join(", ")}.`;
}

/** Returns the label of the Columns button. */
export const columnsLabel = (cols: readonly string[]): string =>
  (cols.length === 0 ? "Columns" : isWide(cols) ? "All columns" : `Columns: ${cols.length}`);
