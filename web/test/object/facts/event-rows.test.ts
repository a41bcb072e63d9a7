// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsFrom, eventSelector } from "../../../static/src/object/facts/event-rows.ts";
import { Rows } from "../../../static/src/model/rows.ts";
import type { Cell } from "../../../static/src/net/wire.ts";
import { none } from "../../verdicts.ts";

const columns = [
  "Last Seen",
  "Type",
  "Reason",
  "Object",
  "Subobject",
  "Source",
  "Message",
  "First Seen",
  "Count",
  "Name",
].map((name) => ({ name, type: "string", format: "", description: "", priority: 0, relative: name.endsWith("Seen") }));
const event = (name: string, last: Cell, type: Cell, ...rest: Cell[]) => ({
  ns: "shop",
  name,
  uid: `u-${name}`,
  rv: "1",
  created: "2026-11-21T10:00:00Z",
  verdict: none,
  cells: [last, type, ...rest],
});

const rows = new Rows();
rows.setSort({ column: "last seen", descending: false });
rows.apply({
  id: 1,
  type: "rows",
  cursor: "c",
  columns,
  last: true,
  rows: [
    event(
      "old",
      "2026-11-21T10:00:00Z",
      "Warning",
      "BackOff",
      "pod/web-1",
      "spec.containers{web}",
      "kubelet, node-3",
      " Back-off ",
      "2026-11-21T09:00:00Z",
      42,
      "old",
    ),
    event(
      "new",
      "2026-11-21T10:09:00Z",
      "Normal",
      "Pulled",
      "pod/web-1",
      "",
      "kubelet, ",
      "Pulled it",
      "2026-11-21T10:09:00Z",
      1,
      "new",
    ),
    event("odd", "<unknown>", null, null, null, null, null, null, null, "many", null),
  ],
});

void test("events are sorted newest first, with unknown times last", () => {
  const all = eventsFrom(columns, rows.visible(), false);
  assert.deepEqual(
    all.map((e) => e.key),
    ["u-new", "u-old", "u-odd"],
  );
  assert.deepEqual(all[1], {
    key: "u-old",
    warning: true,
    type: "Warning",
    reason: "BackOff",
    message: "Back-off",
    part: "spec.containers{web}",
    object: "pod/web-1",
    source: "kubelet, node-3",
    count: 42,
    last: "2026-11-21T10:00:00Z",
    first: "2026-11-21T09:00:00Z",
  });
  assert.deepEqual(all[2], {
    key: "u-odd",
    warning: false,
    type: "Unknown",
    reason: "",
    message: "",
    part: "",
    object: "",
    source: "",
    count: null,
    last: "2026-11-21T10:00:00Z",
    first: "",
  });
  assert.equal(all[0]?.source, "kubelet");
});

void test("the option warnings first keeps the order within each group", () =>
  assert.deepEqual(
    eventsFrom(columns, rows.visible(), true).map((e) => e.key),
    ["u-old", "u-new", "u-odd"],
  ));

void test("missing columns give unknown values", () => {
  const [e] = eventsFrom([], rows.visible(), false);
  assert.deepEqual([e?.type, e?.count, e?.message], ["Unknown", null, ""]);
});

void test("events are selected by UID, and those of a node by its name", () => {
  assert.equal(eventSelector("Pod", "web-1", "u-1"), "involvedObject.uid=u-1");
  assert.equal(eventSelector("Node", "node-3", "u-2"), "involvedObject.kind=Node,involvedObject.name=node-3");
});
