import { cellText } from "./row-source.ts";
import { keyOf } from "./row-source.ts";
import type { Rows } from "./rows.ts";
import type { ChangeAuthor, Column, NewestChange, RowEvent } from "../net/wire.ts";

export interface LatestChange {
  readonly op: RowEvent["op"];
  readonly ns: string;
  readonly name: string;
  /** The changed cells. Empty if the row was added or deleted. */
  readonly cells: readonly { readonly column: string; readonly before: string; readonly after: string }[];
  readonly by: ChangeAuthor | null;
}

/**
 * Returns the newest change of the events. Call this before the events are applied to `rows`, because it reads the
 * previous cells from them.
 */
export function latestChange(events: readonly RowEvent[], rows: Rows): LatestChange | null {
  for (let i = events.length - 1; i >= 0; i--) {
    const e = events[i] as RowEvent;
    const by = e.by ?? null;
    if (e.op === "add") return { op: e.op, ns: e.row.ns, name: e.row.name, cells: [], by };
    if (e.op === "delete") return { op: e.op, ns: e.ns, name: e.name, cells: [], by };
    const old = rows.get(keyOf(e.ns, e.name));
    if (old === undefined || e.cells.size === 0) continue;
    const cells = [...e.cells].map(([index, cell]) => ({
      column: rows.columns[index]?.name ?? "",
      before: cellText(old.cells[index]),
      after: cellText(cell),
    }));
    return { op: e.op, ns: e.ns, name: e.name, cells, by };
  }
  return null;
}

/** Converts the server's summary of the newest change, which replaces events if only part of the list is loaded. */
export function latestChangeFrom(
  { op, ns, name, before, cells, by }: NewestChange,
  columns: readonly Column[],
): LatestChange {
  return {
    op,
    ns,
    name,
    cells: [...cells].map(([index, cell]) => ({
      column: columns[index]?.name ?? "",
      before: cellText(before.get(index)),
      after: cellText(cell),
    })),
    by: by ?? null,
  };
}
