// The URL parameter for the visible columns of a table: column names, "wide" for all, or empty for the default.

import type { Sort } from "./sort.ts";
import type { Column } from "../net/wire.ts";

interface ColumnChoice {
  readonly name: string; // name of the column in lower case
  readonly label: string;
  readonly wide: boolean; // whether the column is shown only if it fits, or is chosen
  readonly hint: string; // why the column is not always shown
  readonly shown: boolean;
  /** Whether the column is always visible, because it contains the object's name. */
  readonly fixed: boolean;
}

const isWide = (cols: readonly string[]): boolean => cols.length === 1 && cols[0] === "wide";

export function columnChoices(
  columns: readonly Column[],
  namespaced: boolean,
  cols: readonly string[],
): ColumnChoice[] {
  const all = columns.map((c) => ({
    name: c.name.toLowerCase(),
    label: c.name,
    wide: c.priority > 0,
    hint: c.extraAt !== undefined ? "Glasshouse" : c.priority > 0 ? "wide" : "",
  }));
  if (namespaced) all.unshift({ name: "namespace", label: "Namespace", wide: false, hint: "" });
  return all.map((c) => {
    const fixed = c.name === "name";
    return { ...c, fixed, shown: isWide(cols) || (cols.length === 0 ? !c.wide : fixed || cols.includes(c.name)) };
  });
}

export function encodeColumns(all: readonly ColumnChoice[]): string[] {
  if (all.every((c) => c.shown === !c.wide)) return [];
  if (all.every((c) => c.shown)) return ["wide"];
  return all.filter((c) => c.shown).map((c) => c.name);
}

/**
 * Returns a message about unknown columns in the URL, or null. unknownColumnsNote in web/templates/listtext.go
 * returns the same text.
 */
export function unknownColumnsText(
  columns: readonly Column[],
  namespaced: boolean,
  sort: Sort | null,
  cols: readonly string[],
): string | null {
  const existing = [...(namespaced ? ["namespace"] : []), ...columns.map((c) => c.name.toLowerCase())];
  // Besides columns of the server, the user can sort by "severity" (the column "Why") and "auto" (the default order).
  // The parameter `cols` never contains "Why", because the user cannot show or hide that column.
  const unknownSort = sort === null || ["severity", "auto", ...existing].includes(sort.column) ? [] : [sort.column];
  const unknownShown = isWide(cols) ? [] : cols.filter((c) => !existing.includes(c));
  const parts = (
    [
      [unknownSort, "sort by"],
      [unknownShown, "show"],
    ] as const
  )
    .filter(([names]) => names.length > 0)
    .map(([names, what]) => `${names.map((n) => `“${n}”`).join(" or ")} to ${what}`);
  return columns.length === 0 || parts.length === 0
    ? null
    : `No column ${parts.join(", and no column ")}. Available: ${existing.join(", ")}.`;
}

export const columnsLabel = (cols: readonly string[]): string =>
  cols.length === 0 ? "Columns" : isWide(cols) ? "All columns" : `Columns: ${cols.length}`;
