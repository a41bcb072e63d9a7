import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "../fake-page.ts";
import { drawHead, ColumnWidths, type TableHead } from "../../static/src/list/columns.ts";
import type { Entry } from "../../static/src/model/row-source.ts";
import type { TableShape } from "../../static/src/list/row.ts";

const shape = (...names: string[]): TableShape =>
  ({
    ref: "core/v1/pods",
    namespace: false,
    link: 0,
    columns: names.map((name, index) => ({ index, name, relative: name === "Age" })),
  }) as unknown as TableShape;
const head = (): { thead: Part; colgroup: Part; table: Part; head: TableHead } => {
  const [thead, colgroup, table] = [new Part(), new Part(), new Part()];
  return { thead, colgroup, table, head: { thead, colgroup, table } as unknown as TableHead };
};

void test("the header keeps its elements and selection while the columns are the same", () => {
  const { thead, head: h } = head();
  drawHead(h, shape("Name", "Age"), null);
  const row = thead.firstElementChild;
  drawHead(h, shape("Name", "Age"), { column: "age", descending: true });
  assert.equal(thead.firstElementChild, row);
  drawHead(h, shape("Name", "Ready", "Age"), null);
  assert.equal(thead.firstElementChild?.children.length, 3);
  thead.replaceChildren();
  drawHead(h, shape("Name", "Ready", "Age"), null);
  assert.equal(thead.firstElementChild?.children.length, 3, "it was taken away");
});

void test("an invalid age fits into its column", () => {
  const { colgroup, head: h } = head();
  const columns = shape("Age", "Name");
  drawHead(h, columns, null);
  const widths = new ColumnWidths(columns);
  widths.measure([
    { ns: "", cells: ["<invalid>", "a"] },
    { ns: "", cells: ["2099-01-01T00:00:00Z", "a"] },
  ] as unknown as Entry[]);
  widths.apply(h);
  assert.equal(colgroup.firstElementChild?.style["width"], "calc(9ch + var(--cell-pad))");
});

void test("a list with verdicts has a last column that sorts by severity", () => {
  const { thead, table, colgroup, head: h } = head();
  drawHead(h, shape("Name", "Age"), null);
  const row = thead.firstElementChild;
  const withVerdicts = { ...shape("Name", "Age"), hasVerdicts: true };
  drawHead(h, withVerdicts, { column: "severity", descending: false });
  assert.ok(thead.firstElementChild !== row);
  const why = thead.firstElementChild?.lastElementChild;
  assert.deepEqual(
    [why?.textContent, why?.getAttribute("data-column"), why?.getAttribute("aria-sort")],
    ["Why", "why", "ascending"],
  );
  assert.equal(why?.firstElementChild?.getAttribute("data-sort"), "severity");
  assert.equal(table.getAttribute("aria-colcount"), "3");
  const widths = new ColumnWidths(withVerdicts);
  widths.measure([{ ns: "", cells: ["web-1", "2099-01-01T00:00:00Z"] }] as unknown as Entry[]);
  widths.apply(h);
  assert.deepEqual(
    colgroup.children.map((col) => col.style["width"]),
    ["calc(7ch + var(--cell-pad))", "calc(9ch + var(--cell-pad))", ""],
    "the name has space for the shape, and the last column fills the rest",
  );
  assert.equal(table.style["minWidth"], "calc(40ch + 3 * var(--cell-pad))");
});

void test("a table reports its number of columns", () => {
  for (const namespace of [true, false]) {
    const { table, head: h } = head();
    drawHead(h, { ...shape("Name", "Ready", "Age"), namespace }, null);
    assert.equal(table.getAttribute("aria-colcount"), namespace ? "4" : "3");
  }
});
