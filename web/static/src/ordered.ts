// Sorted rows, as a table shows them. There are two implementations. Rows has all rows and sorts them itself. Window
// has the rows around the viewport, in an order that the server keeps.

import type { By, Column, Row } from "./wire.ts";
import type { Rank } from "./sort.ts";
import type { Tone } from "./tone.ts";

/** A row. Its data is immutable: an update creates another entry. */
export interface Entry extends Row {
  readonly key: string;
  /** The row arrived in an event, not in a snapshot. */
  readonly added: boolean;
  /** The author of all changes since the row was last drawn, if it is known and the only one. */
  readonly by: By | null;
  /** The table has drawn its cells. */
  drawn: boolean;
  rank: Rank;
  hay: string | null;
  failing: boolean | null; // null: not determined yet
  waiting: boolean;
  dead: boolean;
}

export const keyOf = (ns: string, name: string): string => `${ns}/${name}`;

export function entryOf({ ns, name, uid, rv, created, cells }: Row, added: boolean, by: By | null): Entry {
  return {
    key: keyOf(ns, name),
    ns,
    name,
    uid,
    rv,
    created,
    cells,
    added,
    by,
    drawn: false,
    rank: null,
    hay: null,
    failing: null,
    waiting: false,
    dead: false,
  };
}

/** Returns the cells with some of them replaced; null if an index does not exist. */
function withCells(e: Entry, changed: ReadonlyMap<number, Row["cells"][number]>): Row["cells"] | null {
  const cells = [...e.cells];
  for (const [index, cell] of changed) {
    if (index >= cells.length) return null;
    cells[index] = cell;
  }
  return cells;
}

/** Returns the author of all changes that are not drawn yet, when another change arrives. */
export function namedFor(old: Entry | undefined, by: By | null): By | null {
  if (old === undefined || old.drawn) return by;
  const same =
    old.by?.manager === by?.manager && old.by?.operation === by?.operation && old.by?.subresource === by?.subresource;
  return same ? by : null;
}

/** Returns a row with some of its cells changed; null if an index does not exist. */
export function changedEntry(
  old: Entry,
  rv: string,
  changed: ReadonlyMap<number, Row["cells"][number]>,
  by: By | null,
): Entry | null {
  const cells = withCells(old, changed);
  if (cells === null) return null;
  // The author of a change without cells does not count.
  const quiet = changed.size === 0;
  const e = entryOf({ ...old, rv, cells }, old.added, quiet ? old.by : namedFor(old, by));
  e.drawn = quiet && old.drawn;
  return e;
}

export interface Ordered {
  readonly columns: readonly Column[];
  /**
   * Increases when rows are added, removed or moved, and when all rows are replaced. It stays the same when a row
   * changes in place.
   */
  readonly version: number;
  /** All requested rows have arrived. */
  readonly complete: boolean;
  /** How many rows there are, before the text filter. */
  readonly total: number;
  /** How many rows match the text filter. */
  readonly matching: number;
  /** The number of positions in the table: like matching, except while the order is frozen. */
  readonly length: number;
  /** How many rows of an incomplete snapshot have arrived. */
  readonly arriving: number;
  /** Whether the order is frozen. */
  readonly held: boolean;
  /** Describes the changes that wait for the release of the order; empty for none. */
  readonly waiting: string;

  /** Returns the rows at these positions. A missing row is requested, and arrives later. */
  slice(from: number, to: number): readonly (Entry | undefined)[];
  /** Returns the position of a row; -1 if the page does not have it. */
  indexOf(key: string): number;
  /**
   * Requests the rows around an object that the page does not have; returns false if it cannot. The version increases
   * when they arrive.
   */
  seek(ns: string, name: string): boolean;
  /** Returns the present version of a row; undefined if the page does not have it. */
  get(key: string): Entry | undefined;
  /** Returns all rows that the page has, in any order. */
  all(): Iterable<Entry>;
  /** Whether a row was deleted. If not, it is here or outside the window. */
  gone(key: string): boolean;
  /** Returns how many rows have this severity, regardless of the filter. */
  count(tone: Tone): number;
  /** Freezes the present order, or releases it. */
  hold(on: boolean): void;
}
