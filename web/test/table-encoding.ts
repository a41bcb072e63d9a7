import type { Verdict } from "../static/src/net/wire.ts";

// Encodes rows column by column, as the server does.
interface TableRow {
  readonly ns: string;
  readonly name: string;
  readonly rv: string;
  readonly created: string;
  readonly verdict?: Verdict | undefined;
  readonly cells: readonly unknown[];
}

export const tableOf = (rows: readonly TableRow[]): object => ({
  ns: rows.map((r) => r.ns),
  name: rows.map((r) => r.name),
  rv: rows.map((r) => r.rv),
  created: rows.map((r) => r.created),
  verdict: rows.every((r) => r.verdict === undefined) ? "none" : rows.map((r) => r.verdict ?? "none"),
  cells: (rows[0]?.cells ?? []).map((_, i) => rows.map((r) => r.cells[i])),
});
