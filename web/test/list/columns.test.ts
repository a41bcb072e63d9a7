import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "../fake-page.ts";
import { drawHead, ColumnWidths, fittingColumns, type TableHead } from "../../static/src/list/columns.ts";
import type { Entry, RowSource } from "../../static/src/model/row-source.ts";
import { none } from "../verdicts.ts";
import type { TableShape } from "../../static/src/list/row.ts";

const shape = (...names: string[]): TableShape =>
  ({
    ref: "core/v1/pods",
    namespace: false,
    link: 0,
    columns: names.map((name, index) => ({ index, name, relative: name === "Age", isNumber: name === "Age" })),
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
  assert.deepEqual(
    row?.children.map((th) => th.getAttribute("data-number")),
    [null, ""],
  );
  drawHead(h, shape("Name", "Ready", "Age"), null);
  assert.equal(thead.firstElementChild?.children.length, 3);
  thead.replaceChildren();
  drawHead(h, shape("Name", "Ready", "Age"), null);
  assert.equal(thead.firstElementChild?.children.length, 3, "a header that was removed is drawn again");
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

void test("a list with verdicts has a column after the name that sorts by severity", () => {
  const { thead, table, colgroup, head: h } = head();
  drawHead(h, shape("Name", "Age"), null);
  const row = thead.firstElementChild;
  const withVerdicts = { ...shape("Name", "Age"), hasVerdicts: true, whyAt: 1 };
  drawHead(h, withVerdicts, { column: "severity", descending: false });
  assert.ok(thead.firstElementChild !== row);
  const why = thead.firstElementChild?.children[1];
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
    ["calc(8ch + var(--cell-pad))", "", "calc(9ch + var(--cell-pad))"],
    "the name column has space for the severity icon, and the column Why fills the remaining width",
  );
  assert.equal(table.style["minWidth"], "calc(41ch + 3 * var(--cell-pad))");
});

void test("the aria-colcount attribute contains the number of columns", () => {
  for (const namespace of [true, false]) {
    const { table, head: h } = head();
    drawHead(h, { ...shape("Name", "Ready", "Age"), namespace }, null);
    assert.equal(table.getAttribute("aria-colcount"), namespace ? "4" : "3");
  }
});

void test("a long text is truncated only if the table has no free space", () => {
  const { colgroup, table, head: h } = head();
  const columns = shape("Name", "Age");
  drawHead(h, columns, null);
  const widths = new ColumnWidths(columns);
  const name = "n".repeat(80);
  widths.measure([{ ns: "", cells: [name, "2099-01-01T00:00:00Z"] }] as unknown as Entry[]);
  const nameWidth = (room: number): unknown => {
    widths.apply(h, room);
    return colgroup.firstElementChild?.style["width"];
  };
  assert.equal(nameWidth(0), "calc(56ch + var(--cell-pad))");
  assert.equal(nameWidth(75), "calc(66ch + var(--cell-pad))");
  assert.equal(nameWidth(200), "calc(80ch + var(--cell-pad))");
  assert.equal(table.style["minWidth"], "calc(65ch + 2 * var(--cell-pad))", "the table does not scroll");
});

void test("the last column becomes narrower before the table scrolls", () => {
  const { table, head: h } = head();
  const columns = shape("Age", "Message");
  drawHead(h, columns, null);
  const widths = new ColumnWidths(columns);
  widths.measure([{ ns: "", cells: ["2099-01-01T00:00:00Z", "m".repeat(80)] }] as unknown as Entry[]);
  widths.apply(h);
  assert.equal(table.style["minWidth"], "calc(33ch + 2 * var(--cell-pad))");
});

void test("wide columns are shown if they fit and have values", () => {
  const names = ["Name", "IP", "Gates", "Node", "Age"];
  const columns = names.map((name) => ({
    name,
    priority: ["Name", "Age"].includes(name) ? 0 : 1,
    relative: name === "Age",
  }));
  const entries = [
    { ns: "", cells: ["web-1", "10.0.0.1", "<none>", "node-1", "2099-01-01T00:00:00Z"], verdict: none },
    { ns: "", cells: ["web-2", "10.0.0.22", "<none>", "node-2", "2099-01-01T00:00:00Z"], verdict: none },
  ];
  const rows = { columns, all: () => entries } as unknown as RowSource;
  const fit = (room: number): string => [...fittingColumns(rows, shape("Name", "Age"), room, 2)].join();
  // In characters, the widths are: Name 6, Age 9, IP 9, Node 6, and 2 more for each column.
  assert.deepEqual([fit(NaN), fit(29), fit(30), fit(37), fit(38)], ["", "3", "1", "1", "1,3"]);
});

void test("added columns are shown before wide ones, and after a long sentence", () => {
  const columns = [
    { name: "Name", priority: 0, relative: false },
    { name: "OS", priority: 1, relative: false },
    { name: "Last change", priority: 1, relative: true, extraAt: 0 },
  ];
  const verdict = { ...none, severity: "failed", sentence: "x".repeat(34), reason: "NotReady" };
  const entries = [{ ns: "", cells: ["node-1", "linux"], extra: ["2026-11-21T10:00:00Z ago by x"], verdict }];
  const rows = { columns, all: () => entries } as unknown as RowSource;
  const fit = (room: number): string =>
    [...fittingColumns(rows, { ...shape("Name"), hasVerdicts: true, whyAt: 1 }, room, 2)].join();
  // In characters, the widths with padding are: Name 11, Why 36, Last change 18, OS 7.
  assert.deepEqual([fit(53), fit(54), fit(64), fit(65), fit(71), fit(72)], ["", "1", "1", "2", "2", "2,1"]);
});
