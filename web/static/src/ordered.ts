// Rows in an order, as a table shows them. There are two of these: Rows holds all
// of them and orders them itself; Window holds those that are looked at, of an
// order that the server keeps.

import type { By, Column, Row } from "./wire.ts";
import type { Rank } from "./sort.ts";
import type { Tone } from "./tone.ts";

/** A row. It is never changed once made: an update makes another. */
export interface Entry extends Row {
  readonly key: string;
  /** Came as an event, not in a snapshot. */
  readonly added: boolean;
  /** Who made the changes since it was drawn last, where that is known, and one alone. */
  readonly by: By | null;
  /** The table shows its cells. */
  drawn: boolean;
  rank: Rank;
  hay: string | null;
  failing: boolean | null; // null: not looked at yet
  waiting: boolean;
  dead: boolean;
}

export const keyOf = (ns: string, name: string): string => `${ns}/${name}`;

export function entryOf({ ns, name, uid, rv, created, cells }: Row, added: boolean, by: By | null): Entry {
  return { key: keyOf(ns, name), ns, name, uid, rv, created, cells, added, by, drawn: false, rank: null, hay: null, failing: null, waiting: false, dead: false };
}

/** The cells with some of them changed; null where one is not there. */
function withCells(e: Entry, changed: ReadonlyMap<number, Row["cells"][number]>): Row["cells"] | null {
  const cells = [...e.cells];
  for (const [index, cell] of changed) {
    if (index >= cells.length) return null;
    cells[index] = cell;
  }
  return cells;
}

/** Who is to be named for all that the table does not show yet, where somebody changes a row. */
export function namedFor(old: Entry | undefined, by: By | null): By | null {
  if (old === undefined || old.drawn) return by;
  const same = old.by?.manager === by?.manager && old.by?.operation === by?.operation && old.by?.subresource === by?.subresource;
  return same ? by : null;
}

/** A row with some of its cells changed; null where one is not there. */
export function changedEntry(old: Entry, rv: string, changed: ReadonlyMap<number, Row["cells"][number]>, by: By | null): Entry | null {
  const cells = withCells(old, changed);
  if (cells === null) return null;
  const quiet = changed.size === 0; // Who changed no cell has no part in what will be seen.
  const e = entryOf({ ...old, rv, cells }, old.added, quiet ? old.by : namedFor(old, by));
  e.drawn = quiet && old.drawn;
  return e;
}

export interface Ordered {
  readonly columns: readonly Column[];
  /** Grows when rows come, go or move, and when there are others; not when one is another now and stays where it is. */
  readonly version: number;
  /** All that was asked for is held. */
  readonly complete: boolean;
  /** How many rows there are, whether the text filter lets them through or not. */
  readonly total: number;
  /** How many it lets through. */
  readonly matching: number;
  /** How many places the table has: as many, but while the order is kept. */
  readonly length: number;
  /** How many rows of a snapshot under way have come. */
  readonly arriving: number;
  /** Whether the order is kept. */
  readonly held: boolean;
  /** What waits to be let in while it is, in words; empty for nothing. */
  readonly waiting: string;

  /** The rows at these places. Not all need be held: they come when they were asked for. */
  slice(from: number, to: number): readonly (Entry | undefined)[];
  /** The place of a row; -1 for one that is not held. */
  indexOf(key: string): number;
  /** Asks for the rows about an object that is not held; false where there are none to ask for. What comes has another version. */
  seek(ns: string, name: string): boolean;
  /** A row as it is now; undefined for one that is not held. */
  get(key: string): Entry | undefined;
  /** The rows that are held, in any order. */
  all(): Iterable<Entry>;
  /** Whether a row that was held is no more; otherwise it is there, or elsewhere. */
  gone(key: string): boolean;
  /** How many rows have a cell of this tone, whatever the filter. */
  count(tone: Tone): number;
  /** Keeps the order as it is seen now, or lets it go. */
  hold(on: boolean): void;
}
