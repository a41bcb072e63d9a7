import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { emptyRow, fillRow, hasVerdicts, isNumber, shapeOf } from "../../static/src/list/row.ts";
import { updateAges } from "../../static/src/ui/ages.ts";
import { Rows } from "../../static/src/model/rows.ts";
import type { Column, Row, Verdict } from "../../static/src/net/wire.ts";
import { Element } from "../fake-element.ts";
import { verdictOf } from "../verdicts.ts";

const column = (name: string, priority = 0, relative = false): Column => ({
  name,
  type: "string",
  format: "",
  priority,
  relative,
});
const columns = [column("Name"), column("Status"), column("Restarts", 0, true), column("Node", 1)];
const row = (name: string, uid: string, verdict: Verdict, cells: Row["cells"]): Row => ({
  ns: "big",
  name,
  uid,
  rv: "1",
  created: "",
  verdict,
  cells,
});
const failed = verdictOf("failed", `Container <app>: CrashLoopBackOff, last exit "1"`, "CrashLoopBackOff");
const now = Date.parse("2026-11-21T10:05:00Z");

function build(): { html: () => string; tick: (ms: number) => void; refill: () => string[] } {
  const rows = new Rows();
  rows.apply({
    id: 1,
    type: "rows",
    cursor: "",
    columns,
    last: true,
    rows: [
      row("web-1", "u1", verdictOf("ok"), ["web-1", "Running", "3 (2026-11-21T10:00:00Z ago)", "node-1"]),
      row("web-2", "u2", failed, ["web-2", `<b>"it's" & javascript:x`, 0, null]),
      row("web-3", "u3", verdictOf("progressing"), [
        "web-3",
        `a\u202e\u2066b\u200b\u001b[31m<c>${"\u200bd".repeat(32)}`,
        1,
        null,
      ]),
    ],
  });
  const shape = shapeOf("core/v1/pods", columns, true, [], hasVerdicts(rows.all()));
  const trs = rows.visible().map((e) => {
    const tr = emptyRow(shape);
    fillRow(tr, shape, e, now);
    return tr;
  });
  return {
    html: () => trs.map((tr) => `${Element.of(tr).html}\n`).join(""),
    tick: (ms) => {
      for (const tr of trs) updateAges(tr, now + ms);
    },
    refill: () => {
      const [first, second] = [trs[0], rows.visible()[1]];
      return first === undefined || second === undefined
        ? []
        : fillRow(first, shape, second, now).map(({ cell, before }) => `${before} > ${cell.textContent ?? ""}`);
    },
  };
}

void test("the server and the page render the same rows", () =>
  assert.equal(build().html(), readFileSync("templates/testdata/rows.html", "utf8")));

void test("numbers, sizes and ages are aligned to the right, in the header too", () => {
  const shown = (name: string, type = "string", relative = false): boolean =>
    isNumber({ name, type, format: "", priority: 0, relative });
  assert.deepEqual(
    [
      shown("Age", "string", true),
      shown("Data", "integer"),
      shown("Restarts"),
      shown("READY"),
      shown("Up-to-date"),
      shown("MinPods"),
    ],
    [true, true, true, true, true, true],
  );
  assert.deepEqual([shown("Name"), shown("Status"), shown("Node"), shown("Cluster-IP")], [false, false, false, false]);
  const extra = { name: "Last change", type: "string", format: "", priority: 1, relative: true, extraAt: 0 };
  assert.equal(isNumber(extra), false, "a text after an age is aligned to the left");
  const shape = shapeOf("core/v1/pods", columns, true, [], false);
  const numbers = (e: Element): boolean[] => e.children.map((c) => c.getAttribute("data-number") !== null);
  assert.deepEqual(numbers(Element.of(emptyRow(shape))), [false, false, false, true]);
});

void test("ages are updated", () => {
  const b = build();
  b.tick(3_600_000);
  assert.ok(b.html().includes("3 (65m ago)"));
});

void test("fillRow returns the changed cells", () =>
  assert.deepEqual(build().refill(), ["web-1 > web-2", `Running > <b>"it's" & javascript:x`, "3 (5m ago) > 0"]));

void test("a time column is not the link if another column is shown", () => {
  assert.equal(
    shapeOf("core/v1/events", [column("Last Seen", 0, true), column("Type"), column("Name", 1)], true, [], false).link,
    1,
  );
  assert.equal(
    shapeOf("core/v1/events", [column("Last Seen", 0, true), column("Type"), column("Name", 1)], true, ["wide"], false)
      .link,
    2,
  );
});

void test("rows have a cell for the verdict after the name if the list has verdicts, whatever the columns", () => {
  const classes = (cols: string[], hasVerdicts: boolean): (string | null)[] =>
    Element.of(emptyRow(shapeOf("core/v1/pods", columns, false, cols, hasVerdicts))).children.map((e) =>
      e.getAttribute("class"),
    );
  assert.deepEqual(classes([], false), [null, null, null]);
  assert.deepEqual(classes([], true), [null, "why", null, null]);
  assert.deepEqual(classes(["name"], true), [null, "why"]);
  for (const ref of ["core/v1/events", "events.k8s.io/v1/events"])
    assert.equal(
      shapeOf(ref, columns, false, [], true).whyAt,
      -1,
      "events have no column Why, because their message is already a column",
    );
});

void test("the title of a reason shows invisible characters as code points", () => {
  const rows = new Rows();
  const degraded = row("web-1", "u1", verdictOf("degraded", "a\u202eb"), ["", "", "", ""]);
  rows.apply({ id: 1, type: "rows", cursor: "", columns, last: true, rows: [degraded] });
  const shape = shapeOf("core/v1/pods", columns, false, [], true);
  const tr = emptyRow(shape);
  for (const e of rows.visible()) fillRow(tr, shape, e, now);
  assert.equal(Element.of(tr).children[1]?.getAttribute("title"), "a[U+202E]b");
});
