// Invariant: I3, I11.

import assert from "node:assert/strict";
import { test } from "node:test";
import { countedSeverities } from "../../static/src/model/severity.ts";
import { WindowRows, windowSize } from "../../static/src/model/window.ts";
import type { Column, Row, WindowEvent } from "../../static/src/net/wire.ts";
import { none, verdictOf } from "../verdicts.ts";

const columns: Column[] = ["Name", "Status"].map((name) => ({
  name,
  type: "string",
  format: "",
  priority: 0,
  relative: false,
}));

function random(seed: number): (below: number) => number {
  let s = seed;
  return (below) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 2 ** 32) * below);
  };
}

// This fake server sorts rows and sends a window (a part) of them.
class Server {
  rows: Row[] = [];
  sentRows: Row[] = [];
  offset = 0;
  requestedOffsets: number[] = [];
  rowsMove = true; // whether a changed row is removed with the reason "moved"
  readonly window = new WindowRows((offset) => this.requestedOffsets.push(offset));

  private get counts() {
    return {
      id: 1,
      cursor: "c",
      total: this.rows.length,
      matching: this.rows.length,
      failing: 3,
      degraded: 1,
      waiting: 4,
      changes: 0,
      newest: null,
    };
  }
  sendWindow(first = false): void {
    const to = this.requestedOffsets.pop();
    this.requestedOffsets = [];
    if (to !== undefined) this.offset = to;
    this.sentRows = this.rows.slice(this.offset, this.offset + windowSize);
    assert.ok(
      this.window.apply({
        ...this.counts,
        type: "window",
        columns: first ? columns : null,
        offset: this.offset,
        count: windowSize,
        rows: this.sentRows,
      }),
    );
  }
  // Sends the differences since the last call as events. Rows that keep their relative order are at most updated. The
  // others are first removed, from the last to the first, and then inserted, from the first to the last.
  sendChanges(): void {
    const next = this.rows.slice(this.offset, this.offset + windowSize);
    const events: WindowEvent[] = [];
    const stay = new Set<string>();
    let at = 0;
    for (const r of this.sentRows) {
      const found = next.findIndex((n, i) => i >= at && n.uid === r.uid);
      if (found < 0) continue;
      stay.add(r.uid);
      at = found + 1;
    }
    for (let i = this.sentRows.length - 1; i >= 0; i--) {
      const uid = this.sentRows[i]?.uid ?? "";
      const [was, is] = [this.sentRows[i], this.rows.find((r) => r.uid === uid)];
      const why = is === undefined ? "gone" : is.rv !== was?.rv && this.rowsMove ? "moved" : undefined;
      if (!stay.has(uid)) events.push({ op: "remove", at: i, ...(why === undefined ? {} : { why }) });
    }
    next.forEach((r, i) => {
      const old = this.sentRows.find((t) => t.uid === r.uid);
      if (!stay.has(r.uid)) events.push({ op: "insert", at: i, row: r });
      else if (old?.rv !== r.rv)
        events.push({ op: "update", at: i, uid: r.uid, rv: r.rv, cells: new Map([[1, r.cells[1] ?? null]]) });
    });
    this.sentRows = next;
    assert.ok(this.window.apply({ ...this.counts, type: "window-events", events }));
  }
}

const row = (n: number, status = "Running"): Row => ({
  ns: "a",
  name: `web-${n}`,
  uid: `u${n}`,
  rv: "1",
  created: "",
  verdict: none,
  cells: [`web-${n}`, status],
});
const rowTexts = (rows: readonly (Row | undefined)[]): string[] =>
  rows.map((r) => (r === undefined ? "?" : `${r.uid} ${r.rv} ${String(r.cells[1])}`));

for (let seed = 1; seed <= 20; seed++) {
  void test(`random events and scrolling show the server's rows, seed ${seed}`, () => {
    const pick = random(seed);
    const s = new Server();
    let made = 0;
    for (; made < 1500; made++) s.rows.push(row(made));
    s.sendWindow(true);
    for (let round = 0; round < 80; round++) {
      for (let i = pick(8); i > 0; i--) {
        const at = pick(s.rows.length);
        const what = pick(4);
        if (what === 0) s.rows.splice(at, 0, row(made++));
        else if (what === 1) s.rows.splice(at, 1);
        else {
          const old = s.rows[at] as Row;
          const next = { ...old, rv: String(Number(old.rv) + 1), cells: [old.cells[0] ?? null, `status ${pick(9)}`] };
          s.rows[at] = next;
          if (what === 2) s.rows.splice(pick(s.rows.length), 0, ...s.rows.splice(at, 1));
        }
      }
      s.sendChanges();
      const from = pick(4) === 0 ? pick(s.rows.length) : Math.min(s.rows.length - 1, s.offset + 100);
      const want = rowTexts(s.rows.slice(from, from + 40));
      const got = rowTexts(s.window.slice(from, from + 40)).slice(0, want.length);
      for (const [i, g] of got.entries())
        assert.ok(g === "?" || g === want[i], `row ${from + i} shows ${g} instead of ${want[i]}`);
      for (let tries = 0; s.requestedOffsets.length > 0 && tries < 3; tries++) s.sendWindow();
      assert.deepEqual(
        rowTexts(s.window.slice(from, from + 40)).slice(0, want.length),
        want,
        "after all requested windows have arrived, the visible rows are those of the server",
      );
    }
  });
}

void test("only one window is requested at a time, for the range needed last", () => {
  const s = new Server();
  for (let i = 0; i < 5000; i++) s.rows.push(row(i));
  s.sendWindow(true);
  s.window.slice(1000, 1040);
  s.window.slice(3000, 3040);
  assert.equal(s.requestedOffsets.length, 1, "the second request waits for the first one");
  s.sendWindow();
  assert.equal(s.requestedOffsets.length, 1, "the second request is sent after the first response");
  s.sendWindow();
  assert.deepEqual(rowTexts(s.window.slice(3000, 3001)), ["u3000 1 Running"]);
  assert.deepEqual(s.requestedOffsets, []);
});

void test("rows of a frozen order keep their positions, and their cells are updated", () => {
  const s = new Server();
  for (let i = 0; i < 10; i++) s.rows.push(row(i));
  s.sendWindow(true);
  s.window.setFrozen(true);
  s.rows.splice(0, 2);
  s.rows[0] = { ...(s.rows[0] as Row), rv: "2", cells: ["web-2", "Failed"] };
  s.rows.push(row(99));
  s.sendChanges();
  assert.deepEqual(rowTexts(s.window.slice(0, 3)), ["u0 1 Running", "u1 1 Running", "u2 2 Failed"]);
  assert.equal(s.window.pendingText, "1 new, 2 removed");
  s.window.setFrozen(false);
  assert.deepEqual(rowTexts(s.window.slice(0, 2)), ["u2 2 Failed", "u3 1 Running"]);
});

void test("a row counts as deleted when the server reports it, until it is added again", () => {
  const s = new Server();
  for (let i = 0; i < 500; i++) s.rows.push(row(i));
  s.sendWindow(true);
  s.rows.splice(3, 1);
  s.rows.unshift(row(900));
  s.sendChanges();
  assert.deepEqual(
    ["a/web-3", "a/web-399", "a/web-0"].map((key) => s.window.isDeleted(key)),
    [true, false, false],
  );
  assert.deepEqual(
    countedSeverities.map((severity) => s.window.countSeverity(severity)),
    [2, 1, 4],
    "the count of failing rows includes failed and degraded rows",
  );
  s.rows.splice(3, 0, row(3));
  s.sendChanges();
  assert.ok(!s.window.isDeleted("a/web-3"));
  for (let n = 0; n < 10; n++) {
    s.rows.splice(0, 100);
    s.rows.push(...Array.from({ length: 100 }, (_, i) => row(2000 + 100 * n + i)));
    s.sendChanges();
  }
  assert.ok(
    s.window.isDeleted("a/web-2490") && !s.window.isDeleted("a/web-900"),
    "only the newest deleted rows are remembered",
  );
});

void test("pending changes outside the window are counted, too, except rows that only moved because of others", () => {
  const start = (): Server => {
    const s = new Server();
    for (let i = 0; i < 1000; i++) s.rows.push(row(i));
    s.offset = 300;
    s.window.slice(450, 490);
    s.sendWindow(true);
    s.window.setFrozen(true);
    return s;
  };
  const change = (s: Server, what: (rows: Row[]) => void): string => {
    what(s.rows);
    s.sendChanges();
    return s.window.pendingText;
  };
  const moved = (rows: Row[], from: number, to: number): void => {
    const [r] = rows.splice(from, 1) as [Row];
    rows.splice(to, 0, { ...r, rv: String(Number(r.rv) + 1) });
  };
  assert.equal(
    change(start(), (rows) => rows.splice(0, 1)),
    "1 removed",
    "above",
  );
  assert.equal(
    change(start(), (rows) => rows.splice(900, 0, row(2000), row(2001))),
    "2 new",
    "below",
  );
  assert.equal(
    change(start(), (rows) => rows.splice(400, 1)),
    "1 removed",
    "a row in the window is deleted",
  );
  assert.equal(
    change(start(), (rows) => rows.splice(400, 1, row(2000))),
    "1 new, 1 removed",
  );
  assert.equal(
    change(start(), (rows) => moved(rows, 650, 600)),
    "1 moved",
    "a row moves within the window",
  );
  assert.equal(
    change(start(), (rows) => moved(rows, 400, 10)),
    "1 moved",
    "a row moves out of the window",
  );
  assert.equal(
    change(start(), (rows) => rows.splice(600, 0, ...rows.splice(650, 1))),
    "",
    "a row that only changed its position because others moved is not counted",
  );
  const pendingAfter = (all: boolean, events: WindowEvent[]): string => {
    const s = start();
    s.window.apply({
      id: 1,
      type: "window-events",
      cursor: "c",
      total: 1000,
      matching: all ? 1000 : 999,
      failing: 0,
      degraded: 0,
      waiting: 0,
      changes: 1,
      newest: null,
      events,
    });
    return s.window.pendingText;
  };
  const by = { manager: "m", operation: "", subresource: "", time: "" };
  assert.equal(
    pendingAfter(true, [
      { op: "remove", at: 399 },
      { op: "insert", at: 0, row: row(5), by },
    ]),
    "1 moved",
    "a row moves into the window",
  );
  assert.equal(
    pendingAfter(false, [
      { op: "remove", at: 399 },
      { op: "insert", at: 0, row: row(5), by },
    ]),
    "1 removed",
    "with a filter, the counts show that a row was removed and another one may have entered",
  );
  const left = start();
  for (const events of [
    [{ op: "insert", at: 0, row: row(5) }],
    [{ op: "remove", at: 0, why: "moved" }],
  ] as WindowEvent[][])
    left.window.apply({
      id: 1,
      type: "window-events",
      cursor: "c",
      total: 1000,
      matching: 1000,
      failing: 0,
      degraded: 0,
      waiting: 0,
      changes: 1,
      newest: null,
      events,
    });
  assert.equal(left.window.pendingText, "1 moved", "a row that entered and left the window counts as moved once");
  const s = start();
  assert.equal(
    change(s, (rows) => rows.splice(400, 1)),
    "1 removed",
  );
  assert.equal(s.window.length, 1000, "a frozen window keeps its number of rows");
  assert.equal(rowTexts(s.window.slice(400, 401))[0], "u400 1 Running");
  assert.ok(s.window.isDeleted("a/web-400"));
  assert.equal(
    change(s, (rows) => rows.splice(400, 0, row(400))),
    "",
    "a row that was added again is not pending",
  );
  assert.equal(
    change(s, (rows) => rows.splice(400, 0, row(2000))),
    "1 new",
  );
  assert.equal(
    change(s, (rows) => rows.splice(400, 1)),
    "",
    "a row that was created and deleted is not pending",
  );
  s.rows.splice(310, 300);
  s.sentRows = [];
  s.sendWindow();
  assert.equal(
    rowTexts(s.window.slice(400, 401))[0],
    "u400 1 Running",
    "a row deleted from the window stays visible while the order is frozen",
  );
  assert.equal(s.window.pendingText, "300 removed");
  s.window.setFrozen(false);
  assert.deepEqual([s.window.length, rowTexts(s.window.slice(400, 401))[0]], [700, "u700 1 Running"]);
  // Other columns or another offset unfreeze the order.
  s.window.setFrozen(true);
  s.sendWindow(true);
  assert.ok(!s.window.isFrozen, "new columns unfreeze the order");
  const kept = s.window.slice(450, 451)[0];
  s.rows[400] = { ...(s.rows[400] as Row), rv: "9" };
  s.sendWindow();
  assert.ok(s.window.slice(450, 451)[0] === kept, "an unchanged row keeps its entry");
  assert.equal(s.window.slice(400, 401)[0]?.rv, "9");
  s.window.setFrozen(true);
  s.offset = 250;
  s.sendWindow();
  assert.ok(!s.window.isFrozen, "another offset unfreezes the order");
});

void test("a frozen row that moved out of the window keeps current cells", () => {
  const s = new Server();
  s.rows = [row(0), row(1)];
  s.sendWindow(true);
  s.window.setFrozen(true);
  const counts = {
    id: 1,
    cursor: "c",
    total: 2,
    matching: 1,
    failing: 0,
    degraded: 0,
    waiting: 0,
    changes: 1,
    newest: null,
  };
  assert.ok(
    s.window.apply({
      ...counts,
      type: "window-events",
      events: [{ op: "remove", at: 1, why: "filtered", now: { rv: "2", cells: new Map([[1, "Odd"]]) } }],
    }),
  );
  assert.deepEqual(
    [rowTexts(s.window.slice(0, 2)), s.window.pendingText, s.window.isDeleted("a/web-1")],
    [["u0 1 Running", "u1 2 Odd"], "1 removed", false],
  );
});

void test("a verdict can change without a new version of the object", () => {
  const s = new Server();
  s.rows = [row(0), row(1)];
  s.sendWindow(true);
  const [first, second] = s.window.slice(0, 2);
  const counts = { id: 1, cursor: "c", total: 2, matching: 2, failing: 0, degraded: 0, waiting: 0, changes: 1 };
  const overdue = verdictOf("degraded", "Overdue");
  assert.ok(
    s.window.apply({
      ...counts,
      type: "window-events",
      newest: null,
      events: [{ op: "update", at: 0, uid: "u0", rv: "1", cells: new Map(), verdict: overdue }],
    }),
  );
  assert.deepEqual(s.window.get("a/web-0")?.verdict, overdue);
  assert.ok(s.window.get("a/web-0") !== first, "the entry is a new object, so that the table draws it");
  // After many changes, the server sends the complete window instead of events, as here.
  s.rows = [
    { ...row(0), verdict: overdue },
    { ...row(1), verdict: overdue },
  ];
  const kept = s.window.get("a/web-0");
  s.sendWindow();
  assert.ok(s.window.get("a/web-0") === kept);
  assert.deepEqual([second?.verdict, s.window.get("a/web-1")?.verdict], [none, overdue]);
});

void test("a frozen row that the filter excludes keeps its current verdict", () => {
  const s = new Server();
  s.rows = [row(0), row(1)];
  s.sendWindow(true);
  s.window.setFrozen(true);
  const counts = { id: 1, cursor: "c", total: 2, matching: 1, failing: 0, degraded: 0, waiting: 0, changes: 1 };
  assert.ok(
    s.window.apply({
      ...counts,
      type: "window-events",
      newest: null,
      events: [{ op: "remove", at: 1, why: "filtered", now: { rv: "2", cells: new Map(), verdict: verdictOf("ok") } }],
    }),
  );
  assert.deepEqual(s.window.slice(1, 2)[0]?.verdict, verdictOf("ok"));
});

void test("requestAround loads the rows around an object, regardless of earlier requests", () => {
  const around: unknown[] = [];
  const window = new WindowRows((offset, row) => around.push([offset, row]));
  const receiveWindow = (offset: number): boolean =>
    window.apply({
      id: 1,
      type: "window",
      cursor: "c",
      columns,
      total: 5000,
      matching: 5000,
      failing: 0,
      degraded: 0,
      waiting: 0,
      changes: 0,
      newest: null,
      offset,
      count: windowSize,
      rows: Array.from({ length: windowSize }, (_, i) => row(offset + i)),
    });
  assert.ok(!window.requestAround("a", "web-3000"), "no rows are requested before the first window");
  receiveWindow(0);
  window.slice(0, 40);
  assert.ok(window.requestAround("a", "web-3000"));
  receiveWindow(2800);
  assert.deepEqual(around, [[0, { ns: "a", name: "web-3000" }]], "the visible range is not requested again");
  assert.deepEqual([window.indexOf("a/web-3000"), window.indexOf("a/web-1")], [3000, -1]);
  window.slice(0, 40);
  assert.equal(around.length, 2);
});

void test("inconsistent messages are rejected", () => {
  const fits = (event: WindowEvent): boolean => {
    const s = new Server();
    s.rows = [row(1)];
    s.sendWindow(true);
    return s.window.apply({
      id: 1,
      type: "window-events",
      cursor: "c",
      total: 1,
      matching: 1,
      failing: 0,
      degraded: 0,
      waiting: 0,
      changes: 0,
      newest: null,
      events: [event],
    });
  };
  assert.ok(fits({ op: "update", at: 0, uid: "u1", rv: "2", cells: new Map([[1, "x"]]) }));
  assert.ok(!fits({ op: "update", at: 0, uid: "u2", rv: "2", cells: new Map() }), "another object");
  assert.ok(!fits({ op: "update", at: 1, uid: "u1", rv: "2", cells: new Map() }), "a row index out of range");
  assert.ok(
    !fits({ op: "update", at: 0, uid: "u1", rv: "2", cells: new Map([[7, "x"]]) }),
    "a cell index out of range",
  );
  assert.ok(!fits({ op: "remove", at: 1 }));
  assert.ok(!fits({ op: "insert", at: 2, row: row(2) }));
  assert.ok(
    !new WindowRows(() => {}).apply({
      id: 1,
      type: "window-events",
      cursor: "c",
      total: 0,
      matching: 0,
      failing: 0,
      degraded: 0,
      waiting: 0,
      changes: 0,
      newest: null,
      events: [],
    }),
    "events before a window",
  );
});

void test("a row changed by several authors since it was drawn shows no author, even if it moved", () => {
  const counts = {
    id: 1,
    cursor: "c",
    total: 2,
    matching: 2,
    failing: 0,
    degraded: 0,
    waiting: 0,
    changes: 1,
    newest: null,
  };
  const by = (manager: string) => ({ manager, operation: "Update", subresource: "", time: "" });
  const update = (manager: string): WindowEvent[] => [
    { op: "update", at: 0, uid: "u0", rv: "2", cells: new Map([[1, manager]]), by: by(manager) },
  ];
  const move = (manager: string): WindowEvent[] => [
    { op: "remove", at: 0, why: "moved" },
    { op: "insert", at: 0, row: row(0, manager), by: by(manager) },
  ];
  for (const [second, want] of [
    [update("a"), "a"],
    [update("b"), undefined],
    [move("a"), "a"],
    [move("b"), undefined],
  ] as const) {
    const s = new Server();
    s.rows = [row(0), row(1)];
    s.sendWindow(true);
    const first = s.window.get("a/web-0");
    if (first !== undefined) first.isDrawn = true;
    for (const events of [update("a"), second]) assert.ok(s.window.apply({ ...counts, type: "window-events", events }));
    assert.equal(s.window.get("a/web-0")?.by?.manager, want);
  }
});
