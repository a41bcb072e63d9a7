import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, parse } from "../../static/src/net/decode.ts";
import type { SubscriptionSpec } from "../../static/src/net/wire.ts";
import { tableOf } from "../table-encoding.ts";
import { none, verdictOf } from "../verdicts.ts";

const views = new Map<number, SubscriptionSpec["view"]>([
  [1, "table"],
  [2, "object"],
  [3, "changes"],
  [4, "resources"],
  [5, "window"],
  [6, "log"],
]);
const read = (frame: unknown): ReturnType<typeof decode> =>
  decode(typeof frame === "string" ? frame : JSON.stringify(frame), (id) => views.get(id) ?? null);
const row = {
  ns: "big",
  name: "web-1",
  uid: "u",
  rv: "811",
  created: "2026-11-21T10:00:00Z",
  verdict: verdictOf("failed", "Container app: CrashLoopBackOff", "CrashLoopBackOff"),
  cells: ["web-1", 1, true, null],
};

const by = { manager: "kubelet", operation: "Update", subresource: "status", time: "2026-11-21T10:00:00Z" };
const patch = [
  { op: "replace", path: "/a", value: 1 },
  { op: "remove", path: "/b" },
];

void test("a state has an optional count and total; a pong needs no subscription", () => {
  const state = { id: 1, type: "state", state: "syncing" };
  const counts = read([{ ...state, count: 2400, total: 10016 }, { ...state, count: 7 }, state]).messages.map(
    (m) => m.type === "state" && [m.count, m.total],
  );
  assert.deepEqual(counts, [
    [2400, 10016],
    [7, null],
    [null, null],
  ]);
  assert.equal(read([{ ...state, total: "many" }]).faults.length, 1);
  assert.deepEqual(read([{ id: 77, type: "pong" }]).messages, [{ id: 77, type: "pong" }]);
});

void test("log chunks and the end of a log belong to the view log only", () => {
  assert.deepEqual(
    read([
      { id: 6, type: "log", text: "", waiting: true },
      { id: 6, type: "log", text: "a\nb" },
      { id: 6, type: "log-end" },
    ]).messages,
    [
      { id: 6, type: "log", text: "", waiting: true },
      { id: 6, type: "log", text: "a\nb", waiting: false },
      { id: 6, type: "log-end" },
    ],
  );
  assert.deepEqual(
    read([
      { id: 1, type: "log", text: "a" },
      { id: 1, type: "log-end" },
    ]),
    { messages: [], faults: [] },
  );
  assert.equal(read({ id: 6, type: "log", text: 7 }).faults.length, 1);
});

void test("a frame contains one message or several", () => {
  const heartbeat = { id: 1, type: "heartbeat", cursor: "c" };
  assert.equal(read(heartbeat).messages.length, 1);
  assert.deepEqual(
    read([heartbeat, heartbeat]).messages.map((m) => m.type),
    ["heartbeat", "heartbeat"],
  );
});

void test("a snapshot of rows is decoded", () => {
  const { messages, faults } = read({
    id: 1,
    type: "snapshot",
    cursor: "c",
    columns: [{ name: "Age", type: "string", relative: true }],
    table: tableOf([row]),
    last: true,
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(messages, [
    {
      id: 1,
      type: "rows",
      cursor: "c",
      columns: [{ name: "Age", type: "string", format: "", priority: 0, relative: true }],
      rows: [{ ...row, uid: "" }],
      last: true,
    },
  ]);
});

void test("chunks without columns and of a cluster-scoped kind are decoded", () => {
  const [m] = read({
    id: 1,
    type: "snapshot",
    table: { ns: [""], name: ["n"], rv: ["1"], created: ["c"], cells: ["name", "created", [null]] },
  }).messages;
  assert.ok(m?.type === "rows" && m.columns === null && !m.last && m.rows[0]?.ns === "");
  assert.deepEqual(m.rows[0].cells, ["n", "c", null], "a column that repeats another column refers to it by name");
});

void test("the rows of a table have one verdict for all, or one each", () => {
  const verdictsOf = (verdict: unknown): unknown => {
    const [m] = read({ id: 1, type: "snapshot", table: { ...tableOf([row, row]), verdict } }).messages;
    assert.ok(m?.type === "rows");
    return m.rows.map((r) => r.verdict);
  };
  assert.deepEqual(verdictsOf("ok"), [verdictOf("ok"), verdictOf("ok")]);
  assert.deepEqual(verdictsOf("none"), [none, none]);
  assert.deepEqual(verdictsOf(["ok", row.verdict]), [verdictOf("ok"), row.verdict]);
  assert.deepEqual(verdictsOf([null, { severity: "splendid" }]), [none, none]);
  assert.deepEqual(verdictsOf(undefined), [none, none], "a table without verdicts gives each row the verdict none");
});

void test("a row without a verdict has none, and an update without a verdict does not change it", () => {
  const { verdict: _, ...plain } = row;
  const update = { op: "update", ns: "big", name: "web-1", rv: "2", cells: {} };
  const [m] = read({
    id: 1,
    type: "events",
    cursor: "c",
    events: [{ op: "add", row: plain }, update, { ...update, verdict: { severity: "ok" } }],
  }).messages;
  assert.ok(m?.type === "row-events");
  const [added, same, changed] = m.events;
  assert.ok(added?.op === "add" && same?.op === "update" && changed?.op === "update");
  assert.deepEqual([added.row.verdict, "verdict" in same, changed.verdict], [none, false, verdictOf("ok")]);
});

void test("a snapshot of an object that does not exist is decoded", () => {
  const [m] = read({ id: 2, type: "snapshot", cursor: "c", last: true }).messages;
  assert.ok(m?.type === "object" && m.object === null);
});

void test("row events are decoded", () => {
  const [m] = read({
    id: 1,
    type: "events",
    cursor: "c",
    events: [
      { op: "add", row },
      {
        op: "update",
        ns: "big",
        name: "web-1",
        rv: "2",
        cells: { 2: "Running" },
        by: ["kubelet", "Update", "status", by.time],
      },
      { op: "delete", ns: "big", name: "web-1", uid: "u" },
    ],
  }).messages;
  assert.ok(m?.type === "row-events");
  assert.deepEqual(
    m.events.map((e) => e.op),
    ["add", "update", "delete"],
  );
  const update = m.events[1];
  assert.ok(update?.op === "update" && update.cells.get(2) === "Running");
  assert.deepEqual(update.by, by);
});

void test("the authors of patch operations are decoded", () => {
  const authors = [
    { ...by, ops: [1] },
    { ...by, manager: "kubectl", ops: [0] },
  ];
  const [m] = read({
    id: 2,
    type: "events",
    cursor: "c",
    events: [
      { op: "update", uid: "u", rv: "2", patch, by, authors },
      { op: "update", uid: "u", rv: "3", patch, by },
    ],
  }).messages;
  assert.ok(m?.type === "object-events");
  const [first, second] = m.events;
  assert.ok(first?.op === "update" && second?.op === "update");
  assert.deepEqual(first.authors, authors);
  assert.equal("authors" in second, false);
});

void test("the optional health of an object is decoded", () => {
  const failed = { status: "Failed", summary: "Unschedulable: 0/3 nodes are available", details: ["Disruption"] };
  const { messages, faults } = read([
    { id: 2, type: "snapshot", cursor: "c", object: { a: 1 }, health: failed, last: true },
    { id: 2, type: "snapshot", cursor: "c", health: null, last: true },
    {
      id: 2,
      type: "events",
      cursor: "c",
      events: [
        { op: "update", uid: "u", rv: "2", patch, health: { status: "Current", summary: "ready" } },
        { op: "update", uid: "u", rv: "3", patch },
        { op: "add", object: {}, health: { ...failed, status: "Splendid" } },
      ],
    },
  ]);
  assert.deepEqual(faults, []);
  const [there, none, events] = messages;
  assert.ok(there?.type === "object" && none?.type === "object" && events?.type === "object-events");
  assert.deepEqual(there.health, failed);
  assert.equal("health" in none, false);
  assert.deepEqual(
    events.events.map((e) => ("health" in e ? e.health : null)),
    [{ status: "Current", summary: "ready", details: [] }, null, { ...failed, status: "Unknown" }],
  );
});

void test("changes for the activity feed are decoded", () => {
  const update = {
    op: "update",
    ns: "shop",
    name: "web-1",
    uid: "u",
    rv: "812",
    time: "2026-11-21T10:00:01Z",
    patch,
    was: { 0: 2 },
    by,
    authors: [{ ...by, ops: [0, 1] }],
  };
  const gone = { op: "delete", ns: "shop", name: "web-2", uid: "v", rv: "813", time: "2026-11-21T10:00:02Z" };
  const made = { ...gone, op: "add", severity: "failed", object: { kind: "Pod" } };
  const { messages, faults } = read([
    {
      id: 3,
      type: "snapshot",
      cursor: "c1",
      since: "2026-11-21T09:55:00Z",
      events: [update],
      last: true,
      object: { kind: "Pod" },
    },
    { id: 3, type: "events", cursor: "c2", events: [gone, made] },
    { id: 3, type: "snapshot", cursor: "c3", since: "2026-11-21T09:55:00Z", last: true },
  ]);
  assert.deepEqual(faults, []);
  assert.deepEqual(messages, [
    {
      id: 3,
      type: "changes",
      cursor: "c1",
      since: "2026-11-21T09:55:00Z",
      object: { kind: "Pod" },
      events: [{ ...update, severity: "", was: new Map([[0, 2]]) }],
    },
    {
      id: 3,
      type: "change-events",
      cursor: "c2",
      events: [
        { ...gone, severity: "", patch: [] },
        { ...made, patch: [] },
      ],
    },
    { id: 3, type: "changes", cursor: "c3", since: "2026-11-21T09:55:00Z", object: null, events: [] },
  ]);
});

void test("a window and its events are decoded", () => {
  const counts = { total: 120000, matching: 5200, failing: 12, degraded: 2, waiting: 3 };
  const nothing = { changes: 0, newest: null };
  const newest = { op: "update", ns: "shop", name: "web-2", before: { 2: "Running" }, cells: { 2: "Error" }, by };
  const windowMessage = {
    id: 5,
    type: "window",
    cursor: "c1",
    columns: [{ name: "Age", type: "string", format: "", priority: 0, relative: true }],
    ...counts,
    offset: 40,
    count: 2,
    rows: [row, row],
  };
  const moved = { id: 5, type: "window", cursor: "c2", ...counts, offset: 5300, count: 2, rows: [] };
  const left = { rv: "812", cells: { 2: "Running" }, verdict: verdictOf("degraded", "Not ready"), by };
  const events = [
    { op: "remove", at: 1, why: "gone" },
    { op: "insert", at: 0, row, by },
    { op: "insert", at: 1, row },
    { op: "update", at: 1, uid: "u", rv: "812", cells: { 2: "Running" }, by },
    { op: "update", at: 1, uid: "u", rv: "812", cells: {}, verdict: row.verdict },
  ];
  const { messages, faults } = read([
    windowMessage,
    moved,
    { id: 5, type: "window-events", cursor: "c3", ...counts, events },
    {
      id: 5,
      type: "window-events",
      cursor: "c4",
      ...counts,
      changes: 7,
      newest,
      events: [
        { op: "remove", at: 1, why: "not known yet" },
        { op: "remove", at: 0, why: "moved", uid: "u", ...left },
      ],
    },
  ]);
  assert.deepEqual(faults, []);
  assert.deepEqual(messages, [
    { ...windowMessage, ...nothing },
    { ...moved, ...nothing, columns: null },
    {
      id: 5,
      type: "window-events",
      cursor: "c3",
      ...counts,
      ...nothing,
      events: [
        ...events.slice(0, 3),
        { ...events[3], cells: new Map([[2, "Running"]]) },
        { ...events[4], cells: new Map() },
      ],
    },
    {
      id: 5,
      type: "window-events",
      cursor: "c4",
      ...counts,
      changes: 7,
      newest: { ...newest, before: new Map([[2, "Running"]]), cells: new Map([[2, "Error"]]) },
      events: [
        { op: "remove", at: 1 },
        { op: "remove", at: 0, why: "moved", now: { ...left, cells: new Map([[2, "Running"]]) } },
      ],
    },
  ]);
  assert.deepEqual(read({ ...windowMessage, id: 1 }).messages, []);
});

void test("an invalid window is rejected", () => {
  const fine = {
    id: 5,
    type: "window",
    cursor: "c",
    total: 9,
    matching: 9,
    failing: 1,
    degraded: 0,
    waiting: 1,
    offset: 0,
    count: 1,
    rows: [row],
  };
  const events = (...list: unknown[]) => ({
    id: 5,
    type: "window-events",
    cursor: "c",
    total: 9,
    matching: 9,
    failing: 1,
    degraded: 0,
    waiting: 1,
    events: list,
  });
  assert.deepEqual(read(fine).faults, []);
  const wrong = [
    { ...fine, total: undefined },
    { ...fine, matching: "9" },
    { ...fine, matching: -1 },
    { ...fine, offset: 0.5 },
    { ...fine, offset: undefined },
    { ...fine, count: 0 },
    { ...fine, count: null },
    { ...fine, rows: null },
    { ...fine, rows: [{ ...row, cells: 1 }] },
    { ...fine, cursor: undefined },
    { ...fine, columns: [{}] },
    { ...fine, failing: undefined },
    { ...fine, waiting: 0.5 },
    { ...fine, degraded: undefined },
    { ...fine, changes: -1 },
    { ...fine, newest: 1 },
    { ...fine, newest: { op: "update", before: {}, cells: {} } },
    { ...events(), events: undefined },
    { ...events(), total: null },
    { ...events(), cursor: 7 },
    events(null),
    events({ op: "swap", at: 1 }),
    events({ op: "remove" }),
    events({ op: "remove", at: -1 }),
    events({ op: "remove", at: 1e300 }),
    events({ op: "insert", at: 0 }),
    events({ op: "insert", at: "0", row }),
    events({ op: "update", at: 0, cells: { x: 1 } }),
    events({ op: "update", at: 0, cells: {}, by: 7 }),
  ];
  for (const frame of wrong) {
    const { messages, faults } = read(frame);
    assert.deepEqual([messages.length, faults.length, faults[0]?.id], [0, 1, 5], JSON.stringify(frame));
  }
});

void test("resources and a digest are decoded", () => {
  const pods = {
    group: "core",
    version: "v1",
    resource: "pods",
    kind: "Pod",
    namespaced: true,
    verbs: ["list"],
    preferred: true,
    ref: "core/v1/pods",
    section: "Workloads",
  };
  const [resources, digest] = read([
    {
      id: 4,
      type: "resources",
      build: "b",
      resources: [pods],
      problems: [{ group: "metrics.k8s.io", version: "v1", reason: "away" }],
    },
    { id: 1, type: "digest", cursor: "c", count: 2, digest: "00ab12ef" },
  ]).messages;
  assert.ok(resources?.type === "resources" && digest?.type === "digest");
  assert.deepEqual(
    [resources.build, resources.kinds.map((k) => k.ref), [...resources.problems]],
    ["b", ["core/v1/pods"], [["metrics.k8s.io", "away"]]],
  );
  assert.deepEqual(digest, { id: 1, type: "digest", cursor: "c", count: 2, digest: "00ab12ef" });
});

void test("a state has the covered namespaces if not all are covered", () => {
  const [all, some] = read([
    { id: 1, type: "state", state: "live" },
    { id: 1, type: "state", state: "live", namespaces: ["shop"] },
  ]).messages;
  assert.ok(all?.type === "state" && some?.type === "state");
  assert.deepEqual([all.namespaces, some.namespaces], [[], ["shop"]]);
});

void test("unknown types, unknown subscriptions and unknown fields are ignored", () => {
  assert.deepEqual(read({ id: 1, type: "weather", sky: "blue" }), { messages: [], faults: [] });
  assert.deepEqual(read({ id: 9, type: "events", cursor: 7 }), { messages: [], faults: [] });
  assert.equal(read({ id: 1, type: "heartbeat", cursor: "c", more: [] }).messages.length, 1);
});

const malformed: [string, unknown, number | null][] = [
  ["invalid JSON", "{", null],
  ["a number instead of an object", 7, null],
  ["null in a frame", [null], null],
  ["a message without a type", { id: 1 }, 1],
  ["a message without an id", { type: "heartbeat", cursor: "" }, null],
  ["an id that is a string", { id: "1", type: "heartbeat" }, null],
  ["a table that is a list", { id: 1, type: "snapshot", table: [] }, 1],
  ["a table without names", { id: 1, type: "snapshot", table: { ...tableOf([row]), name: undefined } }, 1],
  ["a name that is not a string", { id: 1, type: "snapshot", table: { ...tableOf([row]), name: [null] } }, 1],
  ["a column with fewer values than rows", { id: 1, type: "snapshot", table: { ...tableOf([row]), rv: [] } }, 1],
  ["cells with fewer values than rows", { id: 1, type: "snapshot", table: { ...tableOf([row]), cells: [[]] } }, 1],
  ["fewer verdicts than rows", { id: 1, type: "snapshot", table: { ...tableOf([row]), verdict: [] } }, 1],
  ["more verdicts than rows", { id: 1, type: "snapshot", table: { ...tableOf([row]), verdict: ["ok", "ok"] } }, 1],
  ["a table without cells", { id: 1, type: "snapshot", table: { ...tableOf([row]), cells: undefined } }, 1],
  ["a name that is a number", { id: 1, type: "events", cursor: "c", events: [{ op: "delete", name: 7 }] }, 1],
  ["events without a cursor", { id: 1, type: "events", events: [] }, 1],
  ["an unknown op", { id: 1, type: "events", cursor: "c", events: [{ op: "explode" }] }, 1],
  [
    "a cell index that is not a number",
    { id: 1, type: "events", cursor: "c", events: [{ op: "update", name: "a", cells: { __proto__x: 1 } }] },
    1,
  ],
  ["an unknown state", { id: 1, type: "state", state: "fine" }, 1],
  [
    "a patch path without a leading slash",
    { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [{ op: "remove", path: "a" }] }] },
    2,
  ],
  [
    "a patch without a value",
    { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch: [{ op: "add", path: "/a" }] }] },
    2,
  ],
  [
    "authors that are not a list",
    { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch, authors: {} }] },
    2,
  ],
  [
    "an author of an operation that does not exist",
    { id: 2, type: "events", cursor: "c", events: [{ op: "update", uid: "u", patch, authors: [{ ops: [2] }] }] },
    2,
  ],
  [
    "an author with a fractional operation index",
    {
      id: 3,
      type: "events",
      cursor: "c",
      events: [{ op: "update", name: "a", uid: "u", patch, authors: [{ ops: [0.5] }] }],
    },
    3,
  ],
  [
    "an update without a patch",
    { id: 3, type: "events", cursor: "c", events: [{ op: "update", name: "a", uid: "u" }] },
    3,
  ],
  [
    "a change with an unknown op",
    { id: 3, type: "events", cursor: "c", events: [{ op: "explode", name: "a", uid: "u" }] },
    3,
  ],
  [
    "a change without an object",
    { id: 3, type: "snapshot", cursor: "c", events: [{ op: "add", uid: "u" }], last: true },
    3,
  ],
  ["namespaces that are not a list", { id: 1, type: "state", state: "live", namespaces: "shop" }, 1],
  ["a namespace that is a number", { id: 1, type: "state", state: "live", namespaces: [7] }, 1],
  ["resources that are not a list", { id: 4, type: "resources", resources: {} }, 4],
  ["a digest of 7 digits", { id: 1, type: "digest", cursor: "c", count: 1, digest: "0ab12ef" }, 1],
  ["a digest without a count", { id: 1, type: "digest", cursor: "c", digest: "00ab12ef" }, 1],
  ["a health that is a string", { id: 2, type: "snapshot", cursor: "c", object: {}, health: "fine" }, 2],
  [
    "a health without a summary",
    {
      id: 2,
      type: "events",
      cursor: "c",
      events: [{ op: "add", object: {}, health: { status: "Failed", details: [] } }],
    },
    2,
  ],
  [
    "a health with a detail that is not a string",
    { id: 2, type: "snapshot", cursor: "c", object: {}, health: { status: "Failed", summary: "s", details: [{}] } },
    2,
  ],
  [
    "a health without a status",
    { id: 2, type: "snapshot", cursor: "c", object: {}, health: { summary: "s", details: [] } },
    2,
  ],
  ["an object that is a list", { id: 2, type: "snapshot", cursor: "c", object: [] }, 2],
];
for (const [name, frame, id] of malformed) {
  void test(`malformed: ${name}`, () => {
    const { messages, faults } = read(frame);
    assert.deepEqual(messages, []);
    assert.deepEqual(
      faults.map((f) => f.id),
      [id],
    );
  });
}

void test("a malformed message does not affect the other messages in its frame", () => {
  const heartbeat = { id: 1, type: "heartbeat", cursor: "c" };
  const { messages, faults } = read([heartbeat, { id: 1, type: "state" }, heartbeat]);
  assert.equal(messages.length, 2);
  assert.equal(faults.length, 1);
});

void test("integers beyond 2^53 keep all digits", () => {
  const v = parse('{"a":[12345678901234567890, 7],"b":"12345678901234567890"}') as { a: unknown[]; b: unknown };
  // Unlike browsers, Node 20 does not pass the source text of a number to the reviver function.
  assert.ok(v.a[0] === 12345678901234567890n || v.a[0] === 12345678901234567000);
  assert.equal(v.a[1], 7);
  assert.equal(v.b, "12345678901234567890");
});

void test("extra columns follow the columns of the API server", () => {
  const extra = ["2026-11-21T10:00:00Z ago by helm"];
  const columns = [{ name: "Name", type: "string", format: "name", priority: 0 }];
  const extraColumns = [{ name: "Last change", type: "string", format: "", priority: 1, relative: true }];
  const first = { id: 1, type: "snapshot", cursor: "c", columns, extraColumns, last: true };
  const table = { ns: ["a", "a"], name: ["x", "y"], rv: ["1", "2"], created: ["", ""], verdict: "ok", cells: ["name"] };
  const [m] = read({ ...first, table: { ...table, extra: [[extra[0], null]] } }).messages;
  assert.ok(m?.type === "rows");
  assert.deepEqual(
    m.columns?.map((c) => [c.name, c.extraAt]),
    [
      ["Name", undefined],
      ["Last change", 0],
    ],
  );
  assert.deepEqual(
    m.rows.map((r) => [r.cells, r.extra]),
    [
      [["x"], extra],
      [["y"], [null]],
    ],
  );
  const update = { op: "update", ns: "a", name: "x", rv: "2", cells: {}, extra };
  const [next] = read({ id: 1, type: "events", cursor: "c", events: [update, { ...update, extra: [] }] }).messages;
  assert.ok(next?.type === "row-events");
  assert.deepEqual(
    next.events.map((e) => (e.op === "update" ? e.extra : null)),
    [extra, []],
  );
  assert.equal(read({ ...first, table: { ...table, extra: [[null]] } }).faults.length, 1, "a value is missing");
});
