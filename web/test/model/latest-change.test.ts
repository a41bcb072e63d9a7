// Invariant: I43.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Rows } from "../../static/src/model/rows.ts";
import { latestChange } from "../../static/src/model/latest-change.ts";
import type { Column, RowEvent } from "../../static/src/net/wire.ts";
import { none, verdictOf } from "../verdicts.ts";

const column = (name: string): Column => ({ name, type: "string", format: "", priority: 0, relative: false });
const row = (name: string) => ({
  ns: "shop",
  name,
  uid: "u",
  rv: "1",
  created: "",
  verdict: none,
  cells: [name, "Pending", 0],
});
const by = { manager: "kubelet", operation: "Update", subresource: "status", time: "" };
const update = (name: string, cells: [number, string][]): RowEvent => ({
  op: "update",
  ns: "shop",
  name,
  rv: "2",
  cells: new Map(cells),
  by,
});

void test("latestChange returns the newest visible change with the previous cells", () => {
  const rows = new Rows();
  rows.apply({
    id: 1,
    type: "rows",
    cursor: "",
    columns: [column("Name"), column("Status"), column("Restarts")],
    rows: [row("a"), row("b")],
    last: true,
  });
  assert.deepEqual(
    latestChange(
      [
        update("a", [[1, "Running"]]),
        update("b", [
          [1, "Failed"],
          [2, "3"],
        ]),
        update("a", []),
      ],
      rows,
    ),
    {
      op: "update",
      ns: "shop",
      name: "b",
      cells: [
        { column: "Status", before: "Pending", after: "Failed" },
        { column: "Restarts", before: "0", after: "3" },
      ],
      by,
    },
  );
  const overdue: RowEvent = { ...update("a", []), verdict: verdictOf("degraded") } as RowEvent;
  assert.equal(latestChange([overdue], rows), null, "an update without changed fields is not reported");
  assert.equal(latestChange([update("a", []), update("unheard-of", [[1, "x"]])], rows), null);
  assert.deepEqual(latestChange([update("a", [[1, "x"]]), { op: "delete", ns: "shop", name: "a" }], rows), {
    op: "delete",
    ns: "shop",
    name: "a",
    cells: [],
    by: null,
  });
  assert.deepEqual(latestChange([{ op: "add", row: row("c"), by }], rows)?.op, "add");
});
