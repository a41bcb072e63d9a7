// The interface between a table and its sorted rows. It has two implementations. Rows has all rows of a list, and
// sorts them in the browser. WindowRows has only the rows near the viewport, and the server sorts them.

import type { Cell, ChangeAuthor, Column, Row } from "../net/wire.ts";
import type { Rank } from "./sort.ts";
import type { Severity } from "./severity.ts";

/**
 * One version of a row, with the data that the page derives from it. Cells are never changed: an update of the row
 * creates another Entry.
 */
export interface Entry extends Row {
  readonly key: string;
  /** Whether the row arrived in an event after the snapshot, so that the table highlights it as new. */
  readonly isAdded: boolean;
  /**
   * The author of the changes since the row was last drawn. null if there were several authors, or if the author is
   * unknown.
   */
  readonly by: ChangeAuthor | null;
  isDrawn: boolean;
  rank: Rank;
  searchText: string | null;
  isFailing: boolean | null; // whether the row has an error; null if not computed yet
  isWaiting: boolean;
  isDead: boolean;
}

export const keyOf = (ns: string, name: string): string => `${ns}/${name}`;

export function entryOf({ ns, name, uid, rv, created, cells }: Row, added: boolean, by: ChangeAuthor | null): Entry {
  return {
    key: keyOf(ns, name),
    ns,
    name,
    uid,
    rv,
    created,
    cells,
    isAdded: added,
    by,
    isDrawn: false,
    rank: null,
    searchText: null,
    isFailing: null,
    isWaiting: false,
    isDead: false,
  };
}

/**
 * Returns a copy of the entry's cells with some cells replaced. Returns null if there is no cell with one of the
 * indexes.
 */
function withCells(e: Entry, changed: ReadonlyMap<number, Row["cells"][number]>): Row["cells"] | null {
  const cells = [...e.cells];
  for (const [index, cell] of changed) {
    if (index >= cells.length) return null;
    cells[index] = cell;
  }
  return cells;
}

/**
 * Returns the author to show for a changed row. `old` is the previous version of the row, and `by` is the author of
 * the new change. If `old` was never drawn and has another author, the result is null.
 */
export function commonAuthor(old: Entry | undefined, by: ChangeAuthor | null): ChangeAuthor | null {
  if (old === undefined || old.isDrawn) return by;
  const same =
    old.by?.manager === by?.manager && old.by?.operation === by?.operation && old.by?.subresource === by?.subresource;
  return same ? by : null;
}

/**
 * Returns a new entry for a row whose cells have changed. Returns null if there is no cell with one of the indexes.
 */
export function changedEntry(
  old: Entry,
  rv: string,
  changed: ReadonlyMap<number, Row["cells"][number]>,
  by: ChangeAuthor | null,
): Entry | null {
  const cells = withCells(old, changed);
  if (cells === null) return null;
  // A change that affects no visible cell does not change the author that the row shows.
  const quiet = changed.size === 0;
  const e = entryOf({ ...old, rv, cells }, old.isAdded, quiet ? old.by : commonAuthor(old, by));
  e.isDrawn = quiet && old.isDrawn;
  return e;
}

export interface RowSource {
  readonly columns: readonly Column[];
  /**
   * Increases when rows are added, removed or moved, and when all rows are replaced. It does not increase when the
   * content of a row changes.
   */
  readonly version: number;
  /** Whether all requested rows have arrived. */
  readonly isComplete: boolean;
  /** The number of rows, including those that the text filter hides. */
  readonly total: number;
  /** The number of rows that match the text filter. */
  readonly matching: number;
  /** The number of row positions in the table. It equals matching, except while the order of the rows is frozen. */
  readonly length: number;
  /** The number of rows that have arrived of a snapshot that is not complete yet. */
  readonly arriving: number;
  /** Whether the order of the rows is frozen, because the mouse pointer is over the table. */
  readonly isFrozen: boolean;
  /** Describes the changes that wait until the row order is unfrozen. Empty if none wait. */
  readonly pendingText: string;

  /**
   * Returns the rows at the positions `from` (inclusive) to `to` (exclusive). A row that is not loaded is undefined,
   * and is requested from the server.
   */
  slice(from: number, to: number): readonly (Entry | undefined)[];
  /** Returns the position of a row, or -1 if the row is not loaded. */
  indexOf(key: string): number;
  /**
   * Requests the rows around an object from the server. Returns false if that is not possible. When they arrive,
   * version increases.
   */
  requestAround(ns: string, name: string): boolean;
  get(key: string): Entry | undefined;
  /** Returns all loaded rows in no particular order. */
  all(): Iterable<Entry>;
  /** Reports whether the row was deleted. A row outside the loaded part of the list is not deleted. */
  isDeleted(key: string): boolean;
  /** Returns the number of rows with this severity (error or warning). The text filter does not affect it. */
  countSeverity(tone: Severity): number;
  setFrozen(on: boolean): void;
}

export const cellText = (cell: Cell | undefined): string => (cell === null || cell === undefined ? "" : String(cell));
