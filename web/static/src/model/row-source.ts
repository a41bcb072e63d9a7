// The rows of a table. Rows sorts a complete list; WindowRows loads only the rows near the viewport.

import type { Cell, ChangeAuthor, Column, Row, Verdict } from "../net/wire.ts";
import type { Rank } from "./sort.ts";
import type { CountedSeverity } from "./severity.ts";

/** One version of a row. An update creates another Entry, so the table finds changed rows by comparing identities. */
export interface Entry extends Row {
  readonly key: string;
  readonly extra: readonly Cell[];
  /** Whether the row was added after the page had loaded the list. The table highlights such a row as new. */
  readonly isAdded: boolean;
  /** Author of all changes of the row that are not drawn yet. null if unknown or several. */
  readonly by: ChangeAuthor | null;
  isDrawn: boolean;
  rank: Rank;
  searchText: string | null;
  isDead: boolean;
}

export const keyOf = (ns: string, name: string): string => `${ns}/${name}`;

export function entryOf(row: Row, added: boolean, by: ChangeAuthor | null): Entry {
  const { ns, name, uid, rv, created, verdict, cells } = row;
  return {
    key: keyOf(ns, name),
    ns,
    name,
    uid,
    rv,
    created,
    verdict,
    cells,
    extra: row.extra ?? [],
    isAdded: added,
    by,
    isDrawn: false,
    rank: null,
    searchText: null,
    isDead: false,
  };
}

function withCells(e: Entry, changed: ReadonlyMap<number, Row["cells"][number]>): Row["cells"] | null {
  const cells = [...e.cells];
  for (const [index, cell] of changed) {
    if (index >= cells.length) return null;
    cells[index] = cell;
  }
  return cells;
}

/**
 * Returns `by`, the author of a new change of a row, if all changes of this row that are not drawn yet have the same
 * author. Otherwise, returns null.
 */
export function commonAuthor(old: Entry | undefined, by: ChangeAuthor | null): ChangeAuthor | null {
  if (old === undefined || old.isDrawn) return by;
  const same =
    old.by?.manager === by?.manager && old.by?.operation === by?.operation && old.by?.subresource === by?.subresource;
  return same ? by : null;
}

/** The new data of a row. `verdict` is missing if it has not changed. */
interface RowChange {
  readonly rv: string;
  readonly cells: ReadonlyMap<number, Cell>;
  readonly extra?: readonly Cell[];
  readonly verdict?: Verdict;
  readonly by?: ChangeAuthor;
}

/** Applies a change to a row. Returns null if the change contains the index of a cell that the row does not have. */
export function changedEntry(old: Entry, change: RowChange): Entry | null {
  const cells = withCells(old, change.cells);
  if (cells === null) return null;
  const by = change.by ?? null;
  // A change without changed cells is not visible, so do not count its author among those of the visible changes.
  const quiet = change.cells.size === 0 && change.extra === undefined;
  const verdict = change.verdict ?? old.verdict;
  const extra = change.extra ?? old.extra;
  const e = entryOf(
    { ...old, rv: change.rv, verdict, cells, extra },
    old.isAdded,
    quiet ? old.by : commonAuthor(old, by),
  );
  e.isDrawn = quiet && old.isDrawn && change.verdict === undefined;
  return e;
}

export interface RowSource {
  readonly columns: readonly Column[];
  /** Increases when rows are added, removed, moved or replaced, but not when only their content changes. */
  readonly version: number;
  readonly isComplete: boolean;
  /** The number of rows, including those that the text filter hides. */
  readonly total: number;
  readonly matching: number;
  /** The number of row positions. Equals `matching`, except while the mouse pointer freezes the order of the rows. */
  readonly length: number;
  /** The number of rows that have arrived of a snapshot that is still incomplete. Otherwise 0. */
  readonly arriving: number;
  readonly isFrozen: boolean;
  /** Changes that wait for the end of the freeze, such as "2 moved, 1 new". */
  readonly pendingText: string;

  /**
   * Returns the rows in a range of positions. A row that is not loaded is undefined, and is requested from the server.
   */
  slice(from: number, to: number): readonly (Entry | undefined)[];
  indexOf(key: string): number;
  /** Requests the rows around an object. Returns false if the page loads all rows, or no row has arrived yet. */
  requestAround(ns: string, name: string): boolean;
  get(key: string): Entry | undefined;
  all(): Iterable<Entry>;
  /** Whether the page knows that a row was deleted. For a row outside the loaded part of the list, returns false. */
  isDeleted(key: string): boolean;
  /** Returns the number of rows with a severity, including those that the text filter hides. */
  countSeverity(severity: CountedSeverity): number;
  setFrozen(on: boolean): void;
}

/** Returns the cell of a row in the column with an index. */
export const cellOf = (e: Entry, index: number, column: Pick<Column, "extraAt">): Cell =>
  (column.extraAt === undefined ? e.cells[index] : e.extra[column.extraAt]) ?? null;

export const cellText = (cell: Cell | undefined): string => (cell === null || cell === undefined ? "" : String(cell));
