// Which columns are shown, as the address has it: nothing for the usual ones,
// "wide" for all, else their names.

import type { Sort } from "./sort.ts";
import type { Column } from "./wire.ts";

/** A column that can be chosen. */
export interface Choice {
  readonly name: string; // as in the address
  readonly label: string;
  readonly wide: boolean; // shown by kubectl with -o wide only
  readonly shown: boolean;
  /** It is always shown: it names the object. */
  readonly fixed: boolean;
}

const isWide = (cols: readonly string[]): boolean => cols.length === 1 && cols[0] === "wide";

/** The columns of a table, with that of the namespace where its rows have one. */
export function choices(columns: readonly Column[], namespaced: boolean, cols: readonly string[]): Choice[] {
  const all = columns.map((c) => ({ name: c.name.toLowerCase(), label: c.name, wide: c.priority > 0 }));
  if (namespaced) all.unshift({ name: "namespace", label: "Namespace", wide: false });
  return all.map((c) => {
    const fixed = c.name === "name";
    return { ...c, fixed, shown: isWide(cols) || (cols.length === 0 ? !c.wide : fixed || cols.includes(c.name)) };
  });
}

/** What the address has for the choices shown: as little as says it. */
export function colsOf(all: readonly Choice[]): string[] {
  if (all.every((c) => c.shown === !c.wide)) return [];
  if (all.every((c) => c.shown)) return ["wide"];
  return all.filter((c) => c.shown).map((c) => c.name);
}

/** Says which columns an address names, to sort by or to show, that are not there, and which are; null where all are, or none are known yet. As strange in words.go. */
export function strangeWords(columns: readonly Column[], namespaced: boolean, sort: Sort | null, cols: readonly string[]): string | null {
  const there = [...(namespaced ? ["namespace"] : []), ...columns.map((c) => c.name.toLowerCase())];
  const by = sort === null || there.includes(sort.column) ? [] : [sort.column];
  const shown = isWide(cols) ? [] : cols.filter((c) => !there.includes(c));
  const parts = ([[by, "sort by"], [shown, "show"]] as const).filter(([names]) => names.length > 0).map(([names, what]) => `${names.map((n) => `“${n}”`).join(" or ")} to ${what}`);
  return columns.length === 0 || parts.length === 0 ? null : `There is no column ${parts.join(", and none ")}; there are ${there.join(", ")}.`;
}

/** What the button says. */
export const columnWords = (cols: readonly string[]): string => (cols.length === 0 ? "Columns" : isWide(cols) ? "All columns" : `Columns: ${cols.length}`);
