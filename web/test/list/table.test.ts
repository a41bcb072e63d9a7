import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { clearPage, frame, page, Part } from "../fake-page.ts";
import { hasVerdicts, shapeOf } from "../../static/src/list/row.ts";
import { Table } from "../../static/src/list/table.ts";
import type { RowSource } from "../../static/src/model/row-source.ts";
import { Rows } from "../../static/src/model/rows.ts";
import { WindowRows, windowSize } from "../../static/src/model/window.ts";
import type { Column, Row, RowEvent, Severity } from "../../static/src/net/wire.ts";
import { none, verdictOf } from "../verdicts.ts";

const rowHeight = 20; // px, as getComputedStyle of fake-page.ts returns it
const viewport = 200; // px, which is 10 rows
const overscan = 6;
const columns: Column[] = ["Name", "Status"].map((name) => ({
  name,
  type: "string",
  format: "",
  priority: 0,
  relative: false,
}));
const nameOf = (i: number): string => `web-${String(i).padStart(5, "0")}`;
const rowOf = (i: number, status = "Running", rv = "1"): Row => ({
  ns: "shop",
  name: nameOf(i),
  uid: `u${i}`,
  rv,
  created: "",
  verdict: none,
  cells: [nameOf(i), status],
});
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const names = (from: number, to: number): string[] => range(from, to).map(nameOf);

let time = 0; // ms
Object.assign(performance, { now: () => time });
function advance(ms: number): void {
  time += ms;
  mock.timers.tick(ms);
}

class Fixture {
  readonly scroller = new Part("div");
  readonly tbody = new Part("tbody");
  private readonly element = new Part("table");
  private readonly thead = new Part("thead");
  scrolls = 0;
  pending = "";
  readonly table: Table;

  constructor() {
    clearPage();
    time += 10_000;
    mock.timers.reset();
    mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    this.scroller.clientHeight = viewport;
    this.element.append(this.thead, this.tbody);
    this.scroller.append(this.element);
    page.body.append(this.scroller);
    this.thead.offsetHeight = rowHeight;
    this.table = new Table(
      this.scroller as unknown as HTMLElement,
      this.element as unknown as HTMLTableElement,
      () => Date.parse("2026-11-27T10:00:00Z"),
      () => undefined,
      (pending) => {
        this.pending = pending;
      },
      () => this.scrolls++,
    );
  }

  show(rows: RowSource): this {
    this.table.show(rows, shapeOf("core/v1/pods", columns, false, [], hasVerdicts(rows.all())), null);
    frame();
    return this;
  }
  /** Scrolls as a browser does when the user moves the scroll bar or presses a key. */
  scrollTo(position: number): void {
    this.scroller.scrollTop = position * rowHeight;
    this.scroller.fire("scroll");
    frame();
  }
  draw(): void {
    this.table.changed();
    advance(50);
    frame();
  }
  movePointer(to: "rows" | "away"): void {
    page.pointed = to === "rows" ? (this.elements[0] ?? null) : page.body;
    const e = { pointerType: "mouse", clientX: 1, clientY: 1 };
    if (to === "rows") page.pointed?.dispatch("pointerover", e);
    else {
      page.body.dispatch("pointerover", e);
      this.tbody.fire("pointerleave", e);
    }
    frame();
  }
  get elements(): Part[] {
    return this.tbody.children.filter((tr) => tr.getAttribute("class") !== "pad");
  }
  get names(): (string | null)[] {
    return this.elements.map((tr) => tr.getAttribute("data-name"));
  }
  /** The heights of the empty space above and below the drawn rows, in rows. */
  get space(): [number, number] {
    const pads = this.tbody.children.filter((tr) => tr.getAttribute("class") === "pad");
    const height = (pad: Part | undefined): number => parseFloat(String(pad?.style["height"])) / rowHeight;
    return [height(pads[0]), height(pads[1])];
  }
  rowElement(i: number): Part | undefined {
    return this.elements.find((tr) => tr.getAttribute("data-name") === nameOf(i));
  }
  get active(): string | null | undefined {
    const marked = this.elements.filter((tr) => tr.hasAttribute("data-active"));
    assert.ok(marked.length <= 1, "one row is active at most");
    assert.equal(this.element.getAttribute("aria-activedescendant"), marked[0]?.id ?? null);
    return marked[0]?.getAttribute("data-name");
  }
  column(by: number): string[] {
    const chosen = this.table.chooseColumn(by);
    return [chosen, ...this.thead.querySelectorAll("[data-chosen]").map((b) => b.getAttribute("data-sort") ?? "")];
  }
}

function complete(count: number): { rows: Rows; send: (...events: RowEvent[]) => void } {
  const rows = new Rows();
  rows.apply({ id: 1, type: "rows", cursor: "c", columns, rows: range(0, count).map((i) => rowOf(i)), last: true });
  return {
    rows,
    send: (...events) => assert.ok(rows.apply({ id: 1, type: "row-events", cursor: "c", events })),
  };
}
const added = (i: number): RowEvent => ({ op: "add", row: rowOf(i) }) as RowEvent;
const updated = (i: number, status: string): RowEvent =>
  ({
    op: "update",
    ns: "shop",
    name: nameOf(i),
    rv: "2",
    cells: new Map([[1, status]]),
    by: { manager: "kubectl", operation: "Update", subresource: "", time: "" },
  }) as unknown as RowEvent;
const judged = (i: number, severity: Severity, sentence: string): RowEvent => ({
  op: "update",
  ns: "shop",
  name: nameOf(i),
  rv: "1",
  cells: new Map(),
  verdict: verdictOf(severity, sentence),
});
const deleted = (i: number): RowEvent => ({ op: "delete", ns: "shop", name: nameOf(i) }) as RowEvent;

function windowed(total: number) {
  const requests: { offset: number; around?: { ns: string; name: string } }[] = [];
  const rows = new WindowRows((offset, around) =>
    requests.push(around === undefined ? { offset } : { offset, around }),
  );
  const send = (offset: number): void =>
    assert.ok(
      rows.apply({
        id: 1,
        type: "window",
        cursor: "c",
        columns,
        offset,
        count: windowSize,
        rows: range(offset, Math.min(total, offset + windowSize)).map((i) => rowOf(i)),
        total,
        matching: total,
        failing: 0,
        degraded: 0,
        waiting: 0,
        changes: 0,
        newest: null,
      }),
    );
  return { rows, requests, send };
}

void test("only rows in or near the viewport have elements, and empty space replaces the others", () => {
  const f = new Fixture().show(complete(1000).rows);
  assert.deepEqual(f.names, names(0, 10 + overscan));
  f.scrollTo(500);
  const [first, last] = [500 - overscan, 510 + overscan];
  assert.deepEqual(f.names, names(first, last));
  assert.deepEqual(f.space, [first, 1000 - last]);
  assert.equal(f.elements[0]?.getAttribute("aria-rowindex"), String(first + 2), "the header is row 1");
  f.scrollTo(990);
  assert.deepEqual(f.names, names(990 - overscan, 1000));
  assert.deepEqual(f.space, [990 - overscan, 0]);
});

void test("scrolling reuses the row elements", () => {
  const f = new Fixture().show(complete(1000).rows);
  f.scrollTo(100);
  const before = new Set(f.elements);
  f.scrollTo(105);
  assert.deepEqual(f.names, names(99, 121));
  f.scrollTo(700);
  assert.deepEqual(f.names, names(694, 716));
  assert.ok(f.elements.every((tr) => before.has(tr)));
});

void test("a list with fewer rows than the scroll position shows its last rows", () => {
  const f = new Fixture().show(complete(1000).rows);
  f.scrollTo(900);
  f.show(complete(3).rows);
  assert.deepEqual(f.names, names(2, 3));
  assert.deepEqual(f.space, [2, 0]);
});

void test("a scroll to a position waits for rows, and does not count as scrolling by the user", () => {
  const { rows, send } = windowed(5000);
  const f = new Fixture().show(rows);
  f.table.scrollToPosition(150.5);
  frame();
  assert.deepEqual([f.table.top, f.scroller.scrollTop, f.names], [150.5, 0, []]);
  send(0);
  f.draw();
  assert.equal(f.scroller.scrollTop, 150.5 * rowHeight);
  assert.deepEqual(f.names, names(144, 167));
  f.scroller.fire("scroll");
  assert.equal(f.scrolls, 0);
  f.scrollTo(151);
  assert.deepEqual([f.scrolls, f.table.top], [1, 151]);
});

void test("rows that are not loaded are requested, and are empty space until they arrive", () => {
  const { rows, requests, send } = windowed(5000);
  send(0);
  const f = new Fixture().show(rows);
  assert.deepEqual([f.names.length, f.scroller.hasAttribute("data-loading")], [16, false]);
  f.scrollTo(3000);
  assert.deepEqual([f.names.length, f.scroller.hasAttribute("data-loading")], [0, true]);
  assert.equal(f.space[0] + f.space[1], 5000);
  const offset = requests[0]?.offset ?? 0;
  assert.deepEqual([requests.length, offset <= 2994 && offset + windowSize >= 3016], [1, true]);
  send(offset);
  f.draw();
  assert.deepEqual(f.names, names(2994, 3016));
  assert.equal(f.scroller.hasAttribute("data-loading"), false);
});

void test("loaded rows next to rows that are not loaded keep their positions", () => {
  const { rows, send } = windowed(5000);
  send(0);
  const f = new Fixture().show(rows);
  f.scrollTo(windowSize - 5);
  assert.deepEqual(f.names, names(windowSize - 5 - overscan, windowSize));
  assert.deepEqual(f.space, [windowSize - 5 - overscan, 5000 - windowSize]);
  send(1000);
  f.scrollTo(995);
  assert.deepEqual(f.names, names(1000, 995 + 10 + overscan));
  assert.deepEqual(f.space, [1000, 5000 - 1011]);
  assert.equal(f.elements[0]?.getAttribute("aria-rowindex"), "1002");
});

void test("the first key starts at the first visible row, and the viewport follows the active row", () => {
  const f = new Fixture().show(complete(1000).rows);
  f.scrollTo(100.5);
  f.table.move(1);
  frame();
  assert.equal(f.active, nameOf(101));
  for (const [by, to] of [
    [-1, 100],
    [-1, 99],
    ["page-down", 107],
    ["page-up", 99],
    ["last", 999],
    [1, 999],
    ["first", 0],
    [-1, 0],
  ] as const) {
    f.table.move(by);
    frame();
    assert.equal(f.active, nameOf(to), `move ${by}`);
    const top = f.scroller.scrollTop / rowHeight;
    // The viewport has 10 rows, but the header covers one row.
    assert.ok(top <= to && to <= top + 8, `row ${to} is visible at the scroll position ${top}`);
  }
});

void test("the active row stays active when rows are added above it, and the next key moves from there", () => {
  const { rows, send } = complete(20);
  send(deleted(2), deleted(3));
  const f = new Fixture().show(rows);
  for (let n = 0; n < 4; n++) f.table.move(1);
  frame();
  assert.equal(f.active, nameOf(5));
  send(added(2), added(3));
  f.draw();
  assert.equal(f.active, nameOf(5));
  f.table.move(1);
  frame();
  assert.equal(f.active, nameOf(6));
  assert.equal(f.table.activeEntry?.name, nameOf(6));
});

void test("a row becomes active before it is loaded", () => {
  const { rows, requests, send } = windowed(5000);
  send(0);
  const f = new Fixture().show(rows);
  assert.equal(f.table.hasActiveRow, false);
  f.table.move("last");
  frame();
  assert.deepEqual([f.table.hasActiveRow, f.table.activeEntry, f.active], [true, undefined, undefined]);
  send(requests.at(-1)?.offset ?? 0);
  f.draw();
  assert.deepEqual([f.table.activeEntry?.name, f.active], [nameOf(4999), nameOf(4999)]);
});

void test("an empty table has no active row", () => {
  const f = new Fixture().show(complete(0).rows);
  f.table.move(1);
  f.table.move("last");
  frame();
  assert.equal(f.table.hasActiveRow, false);
});

void test("a click activates its row, and the active row is cleared by another list", () => {
  const { rows } = complete(20);
  const f = new Fixture().show(rows);
  f.table.activateRow(f.rowElement(4) as unknown as Element);
  frame();
  assert.equal(f.active, nameOf(4));
  f.table.move(1);
  frame();
  assert.equal(f.active, nameOf(5));
  f.table.clear();
  assert.deepEqual([f.table.hasActiveRow, f.elements.length], [false, 0]);
});

void test("the row of the opened object is selected", () => {
  const f = new Fixture().show(complete(20).rows);
  f.table.setOpened(`shop/${nameOf(3)}`);
  frame();
  assert.deepEqual(
    f.elements.filter((tr) => tr.getAttribute("aria-selected") === "true").map((tr) => tr.getAttribute("data-name")),
    [nameOf(3)],
  );
});

void test("while the pointer is over the rows, no row moves, and the pending changes are reported", () => {
  const { rows, send } = complete(8);
  const f = new Fixture().show(rows);
  send(deleted(3));
  f.draw();
  advance(2000);
  frame();
  const before = f.names;
  assert.equal(before.length, 7);
  f.movePointer("rows");
  send(added(3), added(9));
  f.draw();
  assert.deepEqual([f.names, f.pending], [before, "2 new"]);
  f.movePointer("away");
  assert.deepEqual([f.names, f.pending], [[...names(0, 8), nameOf(9)], ""]);
});

void test("while the pointer is over the rows, cells change in place and are highlighted", () => {
  const { rows, send } = complete(8);
  const f = new Fixture().show(rows);
  f.movePointer("rows");
  send(updated(2, "Failed"));
  f.draw();
  const cell = f.rowElement(2)?.children[1];
  assert.equal(cell?.textContent, "Failed");
  assert.equal(cell?.hasAttribute("data-changed"), true);
  assert.match(cell?.getAttribute("title") ?? "", /Running.* → .*Failed.*\nChanged .* by .*kubectl/);
  assert.equal(f.pending, "");
});

void test("a change of only the verdict is drawn without a highlight", () => {
  const { rows, send } = complete(8);
  send(judged(0, "ok", ""));
  const f = new Fixture().show(rows);
  send(judged(2, "degraded", "Overdue"));
  f.draw();
  const tr = f.rowElement(2);
  assert.deepEqual(
    [tr?.getAttribute("data-severity"), tr?.querySelector(".why")?.textContent],
    ["degraded", "Overdue"],
  );
  assert.equal(tr?.querySelectorAll("[data-changed]").length, 0, "no cell was changed");
  send(judged(2, "ok", ""));
  f.draw();
  assert.deepEqual([tr?.hasAttribute("data-severity"), tr?.querySelector(".why")?.textContent], [false, ""]);
});

void test("lacksVerdicts is true until the table receives rows with verdicts", () => {
  const { rows, send } = complete(8);
  const f = new Fixture();
  assert.equal(f.table.lacksVerdicts, false, "an empty table does not count as lacking verdicts");
  f.show(rows);
  assert.deepEqual([f.table.lacksVerdicts, f.rowElement(1)?.children.length], [true, 2]);
  send(judged(1, "failed", "Evicted"));
  f.show(rows);
  assert.deepEqual([f.table.lacksVerdicts, f.rowElement(1)?.children.length], [false, 3]);
  assert.deepEqual(f.column(2), ["severity", "severity"], "the column after the name sorts by severity");
});

void test("while the pointer is over the rows, a deleted row stays struck through", () => {
  const { rows, send } = complete(8);
  const f = new Fixture().show(rows);
  f.movePointer("rows");
  send(deleted(2));
  f.draw();
  assert.deepEqual(
    f.elements.map((tr) => tr.getAttribute("aria-rowindex")),
    range(2, 10).map(String),
  );
  advance(60_000);
  frame();
  assert.deepEqual([f.names, f.pending], [names(0, 8), "1 removed"]);
  assert.equal(f.rowElement(2)?.hasAttribute("data-gone"), true);
  f.movePointer("away");
  assert.deepEqual(f.names, [...names(0, 2), ...names(3, 8)]);
});

void test("rows are frozen while they move under a resting pointer", () => {
  const { rows, send } = complete(8);
  const f = new Fixture().show(rows);
  page.body.dispatch("pointerover", { pointerType: "mouse", clientX: 1, clientY: 1 });
  page.pointed = f.elements[0] ?? null;
  assert.equal(rows.isFrozen, false);
  send(added(20));
  f.draw();
  assert.equal(rows.isFrozen, true);
  page.documentElement.fire("pointerleave");
  f.table.schedule();
  frame();
  assert.equal(rows.isFrozen, false, "the pointer has left the browser");
});

void test("touch input does not freeze the rows", () => {
  const { rows } = complete(8);
  const f = new Fixture().show(rows);
  page.pointed = f.elements[0] ?? null;
  page.pointed?.dispatch("pointerover", { pointerType: "touch", clientX: 1, clientY: 1 });
  assert.equal(rows.isFrozen, false);
  f.table.schedule();
  frame();
  assert.equal(rows.isFrozen, false);
});

void test("the user can apply the pending changes under the pointer", () => {
  const { rows, send } = complete(8);
  const f = new Fixture().show(rows);
  f.movePointer("rows");
  send(added(20));
  f.draw();
  f.table.applyPendingChanges();
  frame();
  assert.deepEqual([f.names, f.pending], [[...names(0, 8), nameOf(20)], ""]);
  assert.equal(rows.isFrozen, true, "the pointer is still over the rows");
});

void test("a deleted row stays at its place for 900 ms", () => {
  const { rows, send } = complete(8);
  const f = new Fixture().show(rows);
  send(deleted(0), deleted(4));
  f.draw();
  assert.deepEqual(f.names, names(0, 8));
  assert.deepEqual(
    f.elements.filter((tr) => tr.hasAttribute("data-gone")).map((tr) => tr.getAttribute("data-name")),
    [nameOf(0), nameOf(4)],
  );
  advance(800);
  frame();
  assert.equal(f.names.length, 8);
  advance(200);
  frame();
  assert.deepEqual(f.names, [...names(1, 4), ...names(5, 8)]);
});

void test("many rows that are deleted at once disappear immediately", () => {
  const { rows, send } = complete(100);
  const f = new Fixture();
  f.scroller.clientHeight = 30 * rowHeight;
  f.show(rows);
  send(...range(0, 21).map(deleted));
  f.draw();
  assert.equal(f.names[0], nameOf(21));
});

void test("changes within 50 ms are drawn together", () => {
  const { rows, send } = complete(5);
  const f = new Fixture().show(rows);
  send(added(10));
  f.table.changed();
  frame();
  assert.equal(f.names.length, 5, "a change within 50 ms of the last drawing is not drawn yet");
  advance(30);
  send(added(11));
  f.table.changed();
  advance(20);
  frame();
  assert.equal(f.names.length, 7);
  advance(60);
  send(added(12));
  f.table.changed();
  frame();
  assert.equal(f.names.length, 8, "after a pause, a change is drawn in the next frame");
});

void test("a step to a row that is not loaded waits for it", () => {
  const { rows, requests, send } = windowed(5000);
  send(0);
  const f = new Fixture().show(rows);
  let reached = "";
  f.table.step({ ns: "shop", name: nameOf(windowSize - 1) }, 1, (row) => {
    reached = row?.name ?? "none";
  });
  frame();
  assert.equal(reached, "");
  send(requests.at(-1)?.offset ?? 0);
  f.draw();
  assert.deepEqual([reached, f.active], [nameOf(windowSize), nameOf(windowSize)]);
});

void test("a step activates the next row, or waits until the row of the object is loaded", () => {
  const { rows, requests, send } = windowed(5000);
  send(0);
  const f = new Fixture().show(rows);
  const reached: (string | undefined)[] = [];
  const step = (from: number, by: number): void =>
    f.table.step({ ns: "shop", name: nameOf(from) }, by, (row) => reached.push(row?.name));
  step(3, 1);
  frame();
  assert.deepEqual([reached, f.active], [[nameOf(4)], nameOf(4)]);
  step(0, -1);
  assert.deepEqual(reached.splice(0), [nameOf(4), undefined], "no row is before the first one");
  step(2000, 0);
  assert.deepEqual([reached, requests], [[], [{ offset: 0, around: { ns: "shop", name: nameOf(2000) } }]]);
  send(1800);
  f.draw();
  assert.deepEqual([reached, f.active], [[nameOf(2000)], nameOf(2000)]);
});

void test("a step from an object that is not in the list activates no row", () => {
  const f = new Fixture().show(complete(8).rows);
  let row: unknown = "none";
  f.table.step({ ns: "shop", name: "other" }, 0, (found) => {
    row = found;
  });
  assert.equal(row, null);
});

void test("the first visible row stays visible after the row height changes", () => {
  const f = new Fixture().show(complete(1000).rows);
  f.scrollTo(50);
  const global = globalThis as { getComputedStyle: unknown };
  const { getComputedStyle: before } = global;
  try {
    f.table.changeRowHeight(() => {
      global.getComputedStyle = () => ({ getPropertyValue: () => "40px" });
    });
    frame();
    assert.deepEqual([f.scroller.scrollTop, f.table.top], [50 * 40, 50]);
    assert.deepEqual(f.names, names(50 - overscan, 55 + overscan));
  } finally {
    global.getComputedStyle = before;
  }
});

void test("arrow keys select a column, and stop at the first and last one", () => {
  const right = new Fixture().show(complete(2).rows);
  assert.deepEqual(
    [1, 1, 1, 0, -1, -1].map((by) => right.column(by)),
    ["name", "status", "status", "status", "name", "name"].map((name) => [name, name]),
  );
  assert.deepEqual(
    new Fixture().show(complete(2).rows).column(-1),
    ["status", "status"],
    "the left arrow starts at the last column",
  );
});
