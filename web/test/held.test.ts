import assert from "node:assert/strict";
import { test } from "node:test";
import { Held } from "../static/src/held.ts";
import { Live } from "../static/src/live.ts";
import { status } from "../static/src/status.ts";
import { Browser } from "./browser.ts";

const object = (rv: string): object => ({ metadata: { uid: "u", resourceVersion: rv } });

// An object at version 1, which the manager a has changed to version 2.
function start() {
  let resets = 0;
  const browser = new Browser();
  const live: Live = new Live("ws://x", browser, () => held.reconnected());
  const held = new Held(
    live,
    () => browser.time,
    "core/v1/pods",
    { ns: "shop", name: "web" },
    () => undefined,
    () => resets++,
  );
  live.connect();
  browser.socket.accept();
  const tell = (m: object): void => browser.socket.say({ id: browser.socket.last["id"], ...m });
  tell({ type: "state", state: "live" });
  tell({ type: "snapshot", cursor: "c1", object: object("1"), last: true });
  tell({
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
    held,
    tell,
    words: () => status(held.known(), 0).words,
    resets: () => resets,
    last: () => held.last?.by[0]?.manager,
  };
}

void test("a right that goes takes along what was last known, and who made it", () => {
  for (const m of [
    { type: "state", state: "forbidden" },
    { type: "error", problem: { title: "Forbidden", status: 403 } },
  ]) {
    const s = start();
    assert.deepEqual([s.held.object, s.last()], [object("2"), "a"]);
    s.tell(m);
    assert.deepEqual([s.held.object, s.last()], [null, undefined]);
  }
});

void test("an object that could not be carried on from says so, and names nobody who did not make it so", () => {
  for (const [now, want] of [["3", undefined], ["2", "a"]] as const) {
    const s = start();
    assert.deepEqual([s.words(), s.live.anew, s.resets()], ["Live", 0, 0]);
    for (let n = 0; n < 2; n++) s.tell({ type: "reset", reason: "the program was started anew" });
    assert.deepEqual([s.words(), s.live.anew, s.resets(), s.last()], ["Reloading", 1, 1, "a"]);
    assert.match(s.live.anewWhy, /started anew/);
    s.tell({ type: "snapshot", cursor: "d1", object: object(now), last: true });
    assert.deepEqual([s.words(), s.held.object, s.last()], ["Live", object(now), want]);
  }
});

void test("one that went while it was not told of was deleted by nobody who is known", () => {
  const s = start();
  s.tell({ type: "reset", reason: "" });
  s.tell({ type: "snapshot", cursor: "d1", last: true });
  assert.deepEqual([s.held.gone, s.last()], ["", undefined]);
  const told = start();
  told.tell({
    type: "events",
    cursor: "c3",
    events: [{ op: "delete", uid: "u", by: { manager: "b", operation: "Update" } }],
  });
  told.tell({ type: "reset", reason: "" });
  told.tell({ type: "snapshot", cursor: "d1", last: true });
  assert.equal(told.last(), "b", "of one that was deleted before it is still so");
});

void test("what is told for the first time after a reset was not missed", () => {
  const s = start();
  s.tell({ type: "state", state: "forbidden" });
  s.tell({ type: "reset", reason: "" });
  assert.deepEqual([s.live.anew, s.resets()], [0, 0]);
});
