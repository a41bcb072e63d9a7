// Sorts cells by meaning: quantities and times by size, text in natural order (node-2 before node-10).

import { firstTimestamp } from "../text/age.ts";
import type { Cell, Column } from "../net/wire.ts";

/** The value by which a cell is sorted. null if the cell's value is unknown: such cells are last in both directions. */
export type Rank = number | string | null;

export interface Sort {
  /** A column name in lower case, or "namespace", "severity" (worst objects first) or "auto" (see autoSort). */
  readonly column: string;
  readonly descending: boolean;
}

/** The default order: by severity while any object of the list is failed, otherwise by namespace and name. */
export const autoSort: Sort = { column: "auto", descending: false };
export const worstFirst: Sort = { column: "severity", descending: false };

const units: Readonly<Record<string, number>> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400, y: 31536000 };
const unknown = new Set(["", "<none>", "<unknown>", "<unset>", "<pending>", "<invalid>", "n/a", "-"]);

const quantity = /^([+-]?\d+(?:\.\d+)?)([numkMGTPE]|[KMGTPE]i)?$/;
const duration = /^(?:\d+[smhdy])+$/;
const fraction = /^(\d+)\/(\d+)$/;
const leading = /^(\d+(?:\.\d+)?)(?:%|[\s(])/;

// The cells of long lists repeat most texts, so cache the sort key of each text.
const rankCache = new Map<string, Rank>();
const maxCachedRanks = 5000;

export function rank(cell: Cell, column: Pick<Column, "relative">): Rank {
  if (cell === null) return null;
  if (typeof cell === "number") return Number.isNaN(cell) ? null : cell;
  if (typeof cell === "boolean") return cell ? 1 : 0;
  if (column.relative) return rankText(cell, column);
  let found = rankCache.get(cell);
  if (found === undefined) {
    found = rankText(cell, column);
    if (rankCache.size < maxCachedRanks) rankCache.set(cell, found);
  }
  return found;
}

function rankText(cell: string, column: Pick<Column, "relative">): Rank {
  const text = cell.trim();
  if (unknown.has(text.toLowerCase())) return null;
  if (column.relative && /^\d{4}-/.test(text)) {
    const at = firstTimestamp(text);
    // The column shows ages. The newest timestamp is the smallest age, so negate the time.
    return Number.isNaN(at) ? null : -at;
  }
  // "5m" could also be the quantity 0.005, but in tables it means 5 minutes.
  if (duration.test(text))
    return [...text.matchAll(/(\d+)([smhdy])/g)].reduce(
      (sum, [, n, unit]) => sum + Number(n) * (seconds[unit ?? ""] ?? 0),
      0,
    );
  const q = quantity.exec(text);
  if (q !== null) return Number(q[1]) * (units[q[2] ?? ""] ?? 1);
  const f = fraction.exec(text);
  if (f !== null) return Number(f[2]) === 0 ? 1 : Number(f[1]) / Number(f[2]);
  const l = leading.exec(text);
  if (l !== null) return Number(l[1]);
  return naturalKey(text);
}

/** Returns a sort key for a text. Comparing two such keys as plain strings gives the natural order. */
export function naturalKey(text: string): string {
  return text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0"));
}

/** Numbers sort before text. Unknown values (null) are last, even in descending order. */
export function compareRanks(a: Rank, b: Rank, descending: boolean): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  const order = typeof a === typeof b ? (a < b ? -1 : 1) : typeof a === "number" ? -1 : 1;
  return descending ? -order : order;
}
