import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { severityColumnsOf, cellSeverity } from "../../static/src/model/severity.ts";

void test("cells have the same severity as on the server", () => {
  const cases = JSON.parse(readFileSync("../internal/watch/severity/testdata/severities.json", "utf8")) as {
    cells: [string, string, string][];
    rows: { columns: string[]; cells: string[]; want: string[] }[];
  };
  assert.ok(cases.cells.length > 30 && cases.rows.length > 10);
  const got = (columns: readonly string[], cells: readonly string[]): string[] => {
    const severityColumns = severityColumnsOf(columns);
    return cells.map(
      (_, i) =>
        severityColumns.filter((t) => t.index === i).map((t) => cellSeverity(severityColumns, cells, t) ?? "")[0] ?? "",
    );
  };
  for (const [column, text, want] of cases.cells) assert.deepEqual(got([column], [text]), [want], `${column} ${text}`);
  for (const { columns, cells, want } of cases.rows)
    assert.deepEqual(got(columns, cells), want, `${columns.join()} ${cells.join()}`);
});
