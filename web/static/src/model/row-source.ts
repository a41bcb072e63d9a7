// The interface of the sorted rows that a table shows. There are two implementations. Rows has all rows of a list and
// sorts them itself. Window has only the rows near the viewport, and the server sorts them.

import type { Cell, ChangeAuthor, Column, Row } from "../net/wire.ts";
import type { Rank } from "./sort.ts";
import type { Severity } from "./severity.ts";

/** A row with what the page derives from it. Its data is immutable: an update of the row creates another Entry. */
export interface Entry extends Row {
  readonly key: string;
  /** Whether the row arrived in an event, not in a snapshot. */
  readonly isAdded: boolean;
  /** The one author of all changes since the row was last drawn; null if there are several or it is unknown. */
  readonly by: ChangeAuthor | null;
  /** Whether the table has drawn the cells of this entry. */
  isDrawn: boolean;
  rank: Rank;
  searchText: string | null;
  isFailing: boolean | null; // whether the row has an error; null if it is not determined yet
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

/** Returns a copy of the entry's cells with the changed ones replaced; null if an index does not exist. */
function withCells(e: Entry, changed: ReadonlyMap<number, Row["cells"][number]>): Row["cells"] | null {
  const cells = [...e.cells];
  for (const [index, cell] of changed) {
    if (index >= cells.length) return null;
    cells[index] = cell;
  }
  return cells;
}

/** Returns the common author of the new change, by by, and those of old not drawn yet; null if there is none. */
export function commonAuthor(old: Entry | undefined, by: ChangeAuthor | null): ChangeAuthor | null {
  if (old === undefined || old.isDrawn) return by;
  const same =
    old.by?.manager === by?.manager && old.by?.operation === by?.operation && old.by?.subresource === by?.subresource;
  return same ? by : null;
}

/** Returns a new entry for a row of which some cells have changed; null if an index does not exist. */
export function changedEntry(
  old: Entry,
  rv: string,
  changed: ReadonlyMap<number, Row["cells"][number]>,
  by: ChangeAuthor | null,
): Entry | null {
  const cells = withCells(old, changed);
  if (cells === null) return null;
  // A change that changes no cell does not change the author that the row shows.
  const quiet = changed.size === 0;
  const e = entryOf({ ...old, rv, cells }, old.isAdded, quiet ? old.by : commonAuthor(old, by));
  e.isDrawn = quiet && old.isDrawn;
  return e;
}

export interface RowSource {
  readonly columns: readonly Column[];
  /**
   * Increases when rows are added, removed or moved, and when all rows are replaced. It stays the same when a row
   * changes in place.
   */
  readonly version: number;
  /** Whether all requested rows have arrived. */
  readonly isComplete: boolean;
  /** How many rows there are, including those that the text filter hides. */
  readonly total: number;
  /** How many rows match the text filter. */
  readonly matching: number;
  /** The number of row positions in the table. It equals matching, except while the order is frozen. */
  readonly length: number;
  /** How many rows of an incomplete snapshot have arrived. */
  readonly arriving: number;
  /** Whether the order is frozen. */
  readonly isFrozen: boolean;
  /** Describes the changes that wait until the order is no longer frozen; empty for none. */
  readonly pendingText: string;

  /** Returns the rows at the positions from (included) to to (excluded). A missing row is requested from the server. */
  slice(from: number, to: number): readonly (Entry | undefined)[];
  /** Returns the position of a row; -1 if the page does not have it. */
  indexOf(key: string): number;
  /**
   * Requests the rows around an object from the server. Returns false if that is not possible. The version increases
   * when the rows arrive.
   */
  requestAround(ns: string, name: string): boolean;
  /** Returns the present version of a row; undefined if the page does not have it. */
  get(key: string): Entry | undefined;
  /** Returns all rows that the page has, in no particular order. */
  all(): Iterable<Entry>;
  /** Whether the row was deleted, as opposed to being outside the loaded part of the list. */
  isDeleted(key: string): boolean;
  /** Returns how many rows have this severity, regardless of the filter. */
  countSeverity(tone: Severity): number;
  /** Freezes the present order of the rows (on), or unfreezes it. */
  setFrozen(on: boolean): void;
}

/** Returns the text of a cell, as kubectl prints it. */
export const cellText = (cell: Cell | undefined): string => (cell === null || cell === undefined ? "" : String(cell));
