import assert from "node:assert/strict";
import { test } from "node:test";
import { ObjectStore } from "../../static/src/model/object-store.ts";
import { Live } from "../../static/src/net/live.ts";
import { status } from "../../static/src/model/status.ts";
import { Browser } from "../fake-browser.ts";

const object = (rv: string): object => ({ metadata: { uid: "u", resourceVersion: rv } });

function start() {
  let resets = 0;
  const browser = new Browser();
  const live: Live = new Live("ws://x", browser, () => store.reconnected());
  const store = new ObjectStore(
    live,
    () => browser.time,
    "core/v1/pods",
    { ns: "shop", name: "web" },
    () => undefined,
    () => resets++,
  );
  live.connect();
  browser.socket.accept();
  const receive = (m: object): void => browser.socket.receive({ id: browser.socket.last["id"], ...m });
  receive({ type: "state", state: "live" });
  receive({ type: "snapshot", cursor: "c1", object: object("1"), last: true });
  receive({
    type: "events",
    cursor: "c2",
    events: [
      {
        op: "update",
        uid: "u",
        rv: "2",
        patch: [{ op: "replace", path: "/metadata/resourceVersion", value: "2" }],
        by: { manager: "a", operation: "Update" },
      },
    ],
  });
  return {
    live,
    store,
    receive,
    words: () => status(store.info(), 0).text,
    resets: () => resets,
    last: () => store.last?.by[0]?.manager,
  };
}

void test("losing permission removes the object and its last author", () => {
  for (const m of [
    { type: "state", state: "forbidden" },
    { type: "error", problem: { title: "Forbidden", status: 403 } },
  ]) {
    const s = start();
    assert.deepEqual([s.store.object, s.last()], [object("2"), "a"]);
    s.receive(m);
    assert.deepEqual([s.store.object, s.last()], [null, undefined]);
  }
});

void test("a reset is reported once, and the last author stays only if the version is the same", () => {
  for (const [now, want] of [
    ["3", undefined],
    ["2", "a"],
  ] as const) {
    const s = start();
    assert.deepEqual([s.words(), s.live.reloadCount, s.resets()], ["Live", 0, 0]);
    for (let n = 0; n < 2; n++) s.receive({ type: "reset", reason: "the program was restarted" });
    assert.deepEqual([s.words(), s.live.reloadCount, s.resets(), s.last()], ["Reloading", 1, 1, "a"]);
    assert.match(s.live.reloadReason, /was restarted/);
    s.receive({ type: "snapshot", cursor: "d1", object: object(now), last: true });
    assert.deepEqual([s.words(), s.store.object, s.last()], ["Live", object(now), want]);
  }
});

void test("an object deleted during a gap has no author and no deletion time", () => {
  const s = start();
  s.receive({ type: "reset", reason: "" });
  s.receive({ type: "snapshot", cursor: "d1", last: true });
  assert.deepEqual([s.store.deletedAt, s.last()], ["", undefined]);
  const deletedFixture = start();
  deletedFixture.receive({
    type: "events",
    cursor: "c3",
    events: [{ op: "delete", uid: "u", by: { manager: "b", operation: "Update" } }],
  });
  deletedFixture.receive({ type: "reset", reason: "" });
  deletedFixture.receive({ type: "snapshot", cursor: "d1", last: true });
  assert.equal(
    deletedFixture.last(),
    "b",
    "a deleted object keeps its last author if it is still deleted after the reset",
  );
});

void test("a reset before the first snapshot is not counted", () => {
  const s = start();
  s.receive({ type: "state", state: "forbidden" });
  s.receive({ type: "reset", reason: "" });
  assert.deepEqual([s.live.reloadCount, s.resets()], [0, 0]);
});
