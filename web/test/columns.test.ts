import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "./page.ts";
import { drawHead, Widths, type Head } from "../static/src/columns.ts";
import type { Entry } from "../static/src/ordered.ts";
import type { Shape } from "../static/src/row.ts";

const shape = (...names: string[]): Shape =>
  ({
    ref: "core/v1/pods",
    namespace: false,
    link: 0,
    columns: names.map((name, index) => ({ index, name, relative: name === "Age", tells: null })),
    telling: [],
  }) as unknown as Shape;
const head = (): { thead: Part; colgroup: Part; head: Head } => {
  const [thead, colgroup, table] = [new Part(), new Part(), new Part()];
  return { thead, colgroup, head: { thead, colgroup, table } as unknown as Head };
};

void test("a head stays, with what was chosen in it, while its columns do", () => {
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

void test("a time that is none has room", () => {
  const { colgroup, head: h } = head();
  const columns = shape("Age", "Name");
  drawHead(h, columns, null);
  const widths = new Widths(columns);
  widths.fit([
    { ns: "", cells: ["<invalid>", "a"] },
    { ns: "", cells: ["2099-01-01T00:00:00Z", "a"] },
  ] as unknown as Entry[]);
  widths.apply(h);
  assert.equal(colgroup.firstElementChild?.style["width"], "calc(9ch + var(--cell-pad))");
});
