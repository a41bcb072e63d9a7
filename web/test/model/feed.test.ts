// Invariant: I8, I11, I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import { digest, hex } from "../../static/src/net/digest.ts";
import { Feed } from "../../static/src/model/feed.ts";
import { Live } from "../../static/src/net/live.ts";
import { countedSeverities } from "../../static/src/model/severity.ts";
import { status } from "../../static/src/model/status.ts";
import type { LatestChange } from "../../static/src/model/latest-change.ts";
import { Browser } from "../fake-browser.ts";
import { tableOf } from "../table-encoding.ts";

const columns = [
  { name: "Name", type: "string" },
  { name: "Phase", type: "string" },
];
const row = (name: string, phase = "Ready", rv = "1") => ({
  ns: "shop",
  name,
  uid: `u-${name}`,
  rv,
  created: "",
  cells: [name, phase],
});
const digestOf = (rows: readonly ReturnType<typeof row>[]): string => hex(digest(rows));

function start(q = "", limit = Infinity, at = 0) {
  const browser = new Browser();
  const log: string[] = [];
  const changes: string[] = [];
  const scheduled: (() => void)[] = [];
  const listener = {
    snapshotArrived: (other: boolean) => log.push(other ? "arrived, other columns" : "arrived"),
    rowsChanged: () => undefined,
    rowChanged: ({ op, name, cells, by }: LatestChange) =>
      changes.push([op, name, ...cells.flatMap((c) => [c.column, c.before, c.after]), by?.manager].join(" ")),
    rowsDiscarded: () => log.push("dropped"),
    reset: () => log.push("reset"),
    statusChanged: () => undefined,
    firstVisibleRow: () => at,
  };
  const live: Live = new Live("ws://x", browser, () => feed.reconnected());
  const feed = new Feed(
    live,
    { resource: "example.com/v1/widgets" },
    { sort: { column: "name", descending: true }, q },
    listener,
    limit,
    0,
    (run) => scheduled.push(run),
  );
  live.connect();
  browser.socket.accept();
  return {
    browser,
    live,
    feed,
    log,
    later: scheduled,
    happened: changes,
    receive: (m: object) =>
      browser.socket.receive({ id: browser.socket.sent.findLast((s) => s["op"] === "subscribe")?.["id"], ...m }),
    seen: () => feed.rows.slice(0, feed.rows.length).map((e) => `${e?.name ?? "?"} ${String(e?.cells[1])}`),
    words: () => status(feed.info(), 0).text,
  };
}
type Fixture = ReturnType<typeof start>;
const snapshot = (s: Fixture, cursor: string, ...rows: ReturnType<typeof row>[]): void =>
  s.receive({ type: "snapshot", cursor, columns, table: tableOf(rows), last: true });

void test("a removed and restored kind shows its new rows with the same filter and sort order", () => {
  const s = start("ready");
  s.receive({ type: "state", state: "live" });
  snapshot(s, "e1.1", row("a"), row("b", "Broken"), row("c"));
  assert.deepEqual([s.seen(), s.words()], [["c Ready", "a Ready"], "Live"]);

  s.receive({ type: "state", state: "absent", reason: "the server could not find the requested resource" });
  assert.deepEqual([s.seen(), s.words(), s.feed.info().isComplete], [[], "Not available", false]);

  s.receive({
    type: "reset",
    reason: "the resource returned, has other columns, or some of it may not be seen any more",
  });
  s.receive({ type: "state", state: "syncing" });
  snapshot(s, "e2.1", row("b"), row("d", "Broken"), row("e"));
  s.receive({ type: "state", state: "live" });
  assert.deepEqual([s.seen(), s.words(), s.feed.info().isComplete], [["e Ready", "b Ready"], "Live", true]);
  assert.deepEqual(s.log, ["arrived, other columns", "dropped", "arrived, other columns"]);

  s.receive({ type: "events", cursor: "e2.2", events: [{ op: "add", row: row("f") }] });
  assert.deepEqual(s.seen(), ["f Ready", "e Ready", "b Ready"]);
  assert.deepEqual(s.happened, ["add f "]);
  s.browser.socket.drop();
  s.browser.advance(600);
  s.browser.socket.accept();
  assert.equal(s.browser.socket.last["cursor"], "e2.2", "the cursor is of the new epoch");
});

void test("rows may arrive while the state is still absent", () => {
  const s = start();
  snapshot(s, "e1.1", row("a"));
  s.receive({ type: "state", state: "absent" });
  s.receive({ type: "state", state: "syncing" });
  s.receive({ type: "reset", reason: "returned" });
  snapshot(s, "e2.1");
  s.receive({ type: "state", state: "live" });
  assert.deepEqual([s.seen(), s.words(), s.feed.info().isComplete], [[], "Live", true]);
});

void test("a reset of existing rows is reported once, with its reason", () => {
  const s = start();
  s.receive({ type: "state", state: "live" });
  s.receive({ type: "reset", reason: "nothing is cached" });
  snapshot(s, "c1", row("a"));
  assert.deepEqual([s.words(), s.live.reloadCount, s.live.reloadReason], ["Live", 0, ""]);
  s.receive({ type: "reset", reason: "more has changed than is kept" });
  s.receive({ type: "reset", reason: "and again" });
  assert.deepEqual([s.seen(), s.words(), s.live.reloadCount], [["a Ready"], "Reloading", 1]);
  assert.equal(
    s.live.reloadReason,
    "Missed changes could not be replayed, so the data was reloaded: more has changed than is kept.",
  );
  snapshot(s, "c2", row("b"));
  assert.deepEqual([s.seen(), s.words()], [["b Ready"], "Live"]);
  assert.deepEqual(s.log, ["arrived, other columns", "reset", "arrived, other columns"]);
});

void test("a matching digest changes nothing, even if the filter hides rows", () => {
  const s = start("nothing has this");
  const rows = [row("a"), row("b")];
  s.receive({ type: "state", state: "live" });
  snapshot(s, "c1", ...rows);
  s.receive({ type: "events", cursor: "c2", events: [{ op: "update", ns: "shop", name: "a", rv: "2", cells: {} }] });
  s.receive({ type: "digest", cursor: "c2", count: 2, digest: digestOf([row("a", "Ready", "2"), row("b")]) });
  assert.deepEqual([s.words(), s.live.reloadCount, s.log], ["Live", 0, ["arrived, other columns"]]);
});

for (const [name, count, rows] of [
  ["the page has an additional row", 1, [row("a")]],
  ["the page has another version of a row", 2, [row("a"), row("b", "Ready", "2")]],
  ["the page has another row", 2, [row("a"), row("c")]],
] as const) {
  void test(`a digest mismatch reloads all rows: ${name}`, () => {
    const s = start();
    s.receive({ type: "state", state: "live" });
    snapshot(s, "c1", row("a"), row("b"));
    s.receive({ type: "digest", cursor: "c1", count, digest: digestOf(rows) });
    assert.deepEqual(
      [s.seen(), s.words(), s.live.reloadCount, s.log],
      [[], "Reloading", 1, ["arrived, other columns", "dropped"]],
    );
    assert.equal(s.browser.reports.length, 1);
    s.browser.advance(0);
    const requests = s.browser.socket.last;
    assert.deepEqual(
      [requests["op"], requests["resource"], requests["cursor"]],
      ["subscribe", "example.com/v1/widgets", undefined],
    );
    s.receive({ type: "state", state: "live" });
    assert.equal(s.words(), "Reloading");
    snapshot(s, "c1", ...rows);
    assert.deepEqual([s.seen().length, s.words()], [rows.length, "Live"]);
    s.receive({ type: "digest", cursor: "c1", count, digest: digestOf(rows) });
    assert.deepEqual([s.words(), s.live.reloadCount], ["Live", 1]);
  });
}

void test("a digest is checked in slices against the rows at its arrival", () => {
  const many = Array.from({ length: 60_000 }, (_, i) => row(`app-${i}`));
  const want = digestOf(many);
  const real = performance.now;
  let time = 0;
  performance.now = () => (time += 5);
  try {
    const s = start();
    s.receive({ type: "state", state: "live" });
    snapshot(s, "c1", ...many);
    assert.equal(s.later.length, 1, "the rows are scanned for the filter in one slice");
    for (let run = s.later.shift(); run !== undefined; run = s.later.shift()) run();
    s.receive({ type: "digest", cursor: "c1", count: many.length, digest: want });
    assert.equal(s.later.length, 1, "the digest is computed in one slice");
    s.receive({
      type: "events",
      cursor: "c2",
      events: [
        { op: "delete", ns: "shop", name: "app-59999" },
        { op: "update", ns: "shop", name: "app-59998", rv: "2", cells: {} },
      ],
    });
    for (let run = s.later.shift(); run !== undefined; run = s.later.shift()) run();
    assert.deepEqual([s.words(), s.live.reloadCount], ["Live", 0]);

    // The digest starts a check of the rows against the server. The new snapshot below cancels this check.
    s.receive({ type: "digest", cursor: "c2", count: many.length - 1, digest: want });
    s.receive({ type: "reset", reason: "listed again" });
    snapshot(s, "c3", ...many);
    for (let run = s.later.shift(); run !== undefined; run = s.later.shift()) run();
    assert.deepEqual([s.words(), s.live.reloadCount], ["Live", 1]);

    s.receive({ type: "digest", cursor: "c3", count: many.length, digest: "00000000" });
    for (let run = s.later.shift(); run !== undefined; run = s.later.shift()) run();
    assert.deepEqual([s.words(), s.live.reloadCount], ["Reloading", 2]);
  } finally {
    performance.now = real;
  }
});

void test("after a reconnect, the status is Live only once the server sends the state again", () => {
  const s = start();
  s.receive({ type: "state", state: "live" });
  snapshot(s, "c1", row("a"));
  s.browser.socket.drop();
  s.browser.advance(600);
  s.browser.socket.accept();
  assert.equal(s.words(), "Catching up");
  s.receive({ type: "state", state: "live" });
  assert.equal(s.words(), "Live");
});

void test("the start of staleness survives a lost connection until a new message arrives", () => {
  const s = start();
  const since = "2026-01-02T10:00:00Z";
  const stale = (): string | null => s.feed.info().stale;
  const back = (): void => {
    s.browser.socket.drop();
    s.browser.advance(2000);
    s.browser.socket.drop();
    assert.equal(s.feed.info().connection, "lost");
    s.browser.advance(4000);
    s.browser.socket.accept();
  };
  snapshot(s, "e1.1", row("a"));
  s.receive({ type: "state", state: "stale", since });
  assert.equal(stale(), null, "the current state contains the start time");
  back();
  assert.deepEqual([stale(), s.feed.info().state], [since, null]);
  back();
  assert.equal(stale(), since, "the start time stays, because the previous connection received no message");
  s.receive({ type: "state", state: "live" });
  assert.equal(stale(), null);
  back();
  assert.equal(stale(), null);
  s.receive({ type: "state", state: "stale" });
  back();
  assert.equal(stale(), "", "a polled kind is stale without a start time");
});

void test("a digest before the snapshot is complete is ignored", () => {
  const s = start();
  s.receive({ type: "snapshot", cursor: "c1", columns, rows: [row("a")], last: false });
  s.receive({ type: "digest", cursor: "c1", count: 9, digest: "00000000" });
  assert.equal(s.live.reloadCount, 0);
});

void test("a window with an unknown sort column uses the default order, like a complete list", () => {
  const s = start("", 1);
  s.receive({ type: "state", state: "live" });
  snapshot(s, "c1", row("a"), row("b"));
  const window = (cursor: string, ...rows: ReturnType<typeof row>[]): void =>
    s.receive({
      type: "window",
      cursor,
      columns,
      total: 2,
      matching: 2,
      failing: 0,
      degraded: 0,
      waiting: 0,
      changes: 0,
      offset: 0,
      count: 400,
      rows,
    });
  window("w1", row("b"), row("a"));
  s.feed.setSort({ column: "colour", descending: false });
  assert.equal(s.browser.socket.last["sort"], "colour");
  s.receive({ type: "error", problem: { title: "Unknown column", status: 400, detail: "There is no column colour." } });
  assert.deepEqual(
    [s.browser.socket.last["op"], s.browser.socket.last["sort"], s.feed.info().problem],
    ["subscribe", "", null],
  );
  s.receive({ type: "state", state: "live" });
  window("w2", row("a"), row("b"));
  assert.deepEqual([s.seen(), s.words()], [["a Ready", "b Ready"], "Live"]);
  s.receive({
    type: "window",
    cursor: "w3",
    columns: [...columns, { name: "Colour", type: "string", format: "", priority: 0 }],
    total: 0,
    matching: 0,
    failing: 0,
    degraded: 0,
    waiting: 0,
    changes: 0,
    offset: 0,
    count: 400,
    rows: [],
  });
  assert.equal(s.browser.socket.last["sort"], "colour", "the sort column exists now, so it is requested again");
  s.feed.setSort({ column: "phase", descending: true });
  assert.equal(s.browser.socket.last["sort"], "-phase", "a new sort order is requested");
});

void test("a list above the row limit becomes a window", () => {
  const s = start("ready", 2);
  s.receive({ type: "state", state: "live" });
  snapshot(s, "c1", row("a"), row("b"), row("c"));
  const requests = s.browser.socket.last;
  assert.deepEqual(
    [requests["op"], requests["view"], requests["q"], requests["sort"], requests["offset"]],
    ["subscribe", "window", "ready", "-name", 0],
  );
  s.receive({ type: "state", state: "live" });
  s.receive({
    type: "window",
    cursor: "w1",
    columns,
    total: 3,
    matching: 3,
    failing: 4,
    degraded: 1,
    waiting: 2,
    changes: 5,
    offset: 0,
    count: requests["count"],
    rows: [row("c"), row("b"), row("a")],
  });
  assert.deepEqual([s.seen(), s.words()], [["c Ready", "b Ready", "a Ready"], "Live"]);
  assert.deepEqual(
    countedSeverities.map((severity) => s.feed.rows.countSeverity(severity)),
    [3, 1, 2],
  );
  const elsewhere = {
    op: "update",
    ns: "shop",
    name: "z",
    before: { 1: "Ready" },
    cells: { 1: "Broken" },
    by: { manager: "kubelet" },
  };
  s.receive({
    type: "window-events",
    cursor: "w2",
    total: 2,
    matching: 2,
    failing: 0,
    degraded: 0,
    waiting: 0,
    changes: 2,
    newest: elsewhere,
    events: [{ op: "remove", at: 1 }],
  });
  assert.deepEqual(s.seen(), ["c Ready", "a Ready"]);
  assert.deepEqual([s.feed.events, s.happened], [7, ["update z Phase Ready Broken kubelet"]]);
  s.receive({ type: "digest", cursor: "w2", count: 2, digest: digestOf([row("a"), row("c")]) });
  assert.equal(s.words(), "Live");
  s.feed.setFilter("a");
  assert.equal(s.words(), "Live", "the status stays Live until the request is slow");
  s.feed.setFilter("ab");
  s.feed.setFilter("a");
  s.later.at(-2)?.();
  assert.equal(s.words(), "Live", "only the newest request can be reported as slow");
  s.later.pop()?.();
  assert.equal(s.words(), "Receiving", "the status is Receiving while the rows are those of another filter");
  assert.equal(s.browser.socket.last["q"], "a");
  s.receive({ type: "state", state: "live" });
  s.receive({
    type: "window",
    cursor: "w3",
    columns,
    total: 2,
    matching: 1,
    failing: 0,
    degraded: 0,
    waiting: 0,
    offset: 0,
    count: 400,
    rows: [row("a")],
  });
  assert.deepEqual([s.seen(), s.words()], [["a Ready"], "Live"]);
  s.receive({
    type: "window-events",
    cursor: "w4",
    total: 1,
    matching: 1,
    failing: 0,
    degraded: 0,
    waiting: 0,
    events: [{ op: "remove", at: 7 }],
  });
  s.browser.advance(0);
  assert.deepEqual(
    [s.browser.socket.last["view"], s.words()],
    ["window", "Reloading"],
    "an inconsistent message reloads the rows",
  );
  s.receive({ type: "state", state: "live" });
  s.receive({
    type: "window",
    cursor: "w5",
    columns,
    total: 2,
    matching: 1,
    failing: 0,
    degraded: 0,
    waiting: 0,
    offset: 0,
    count: 400,
    rows: [row("a")],
  });
  s.receive({ type: "digest", cursor: "w5", count: 1, digest: digestOf([row("b")]) });
  s.browser.advance(10_000);
  assert.deepEqual(
    [s.seen(), s.words(), s.live.reloadCount],
    [[], "Reloading", 2],
    "a digest mismatch reloads the rows",
  );
});

void test("rows above the limit stay visible until the window around the viewport arrives", () => {
  const s = start("", 1000, 700);
  const names = Array.from({ length: 1201 }, (_, i) => `w-${String(9999 - i)}`);
  const rows = names.map((name) => row(name));
  const add = (...some: ReturnType<typeof row>[]): void =>
    s.receive({ type: "events", cursor: "c2", events: some.map((row) => ({ op: "add", row })) });
  const view = (): unknown => s.browser.socket.sent.findLast((m) => m["op"] === "subscribe")?.["view"];
  s.receive({ type: "state", state: "live" });
  snapshot(s, "c1", ...rows.slice(0, 1000));
  add(...rows.slice(1000, 1200));
  s.feed.rows.setFrozen(true);
  add(rows[1200] as (typeof rows)[0]);
  assert.equal(view(), "table", "slightly more rows than the limit are allowed, also while the order is frozen");
  s.feed.rows.setFrozen(false);
  add(row("w-0"));
  rows.push(row("w-0"));
  const { view: windowed, sort, offset, count } = s.browser.socket.last;
  assert.deepEqual([windowed, sort, offset, count], ["window", "-name", 500, 400]);
  assert.deepEqual(
    [s.feed.rows.length, s.seen()[700], s.words(), s.feed.isCurrent, s.log],
    [1202, "w-9299 Ready", "Live", false, ["arrived, other columns"]],
  );

  const counts = { cursor: "c3", total: 1202, matching: 1202, failing: 0, degraded: 0, waiting: 0, changes: 0 };
  s.receive({ type: "window", ...counts, columns, offset: 500, count: 400, rows: rows.slice(500, 900) });
  assert.deepEqual(
    [s.feed.rows.length, s.feed.rows.slice(700, 701)[0]?.name, s.words(), s.feed.isCurrent],
    [1202, "w-9299", "Live", true],
  );
  assert.deepEqual(s.log, ["arrived, other columns", "arrived, other columns"], "no rows are dropped");
  assert.equal(
    s.browser.socket.sent.filter((m) => m["op"] === "window").length,
    0,
    "the window contains the visible rows, so no other window is requested",
  );
});

void test("a filter set while rows wait for a window is sent with the window", () => {
  const s = start("", 2);
  s.receive({ type: "state", state: "live" });
  snapshot(s, "c1", row("a"), row("b"));
  s.receive({ type: "events", cursor: "c2", events: [{ op: "add", row: row("c", "Broken") }] });
  s.feed.setFilter("broken");
  assert.deepEqual(
    [s.browser.socket.last["view"], s.browser.socket.last["q"], s.seen()],
    ["window", "broken", ["c Broken"]],
  );
  s.receive({ type: "state", state: "forbidden" });
  assert.deepEqual([s.seen(), s.log.at(-1)], [[], "dropped"]);
});
