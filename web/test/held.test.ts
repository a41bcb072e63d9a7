import assert from "node:assert/strict";
import { test } from "node:test";
import { Held } from "../static/src/held.ts";
import { Live } from "../static/src/live.ts";
import { Browser } from "./browser.ts";

const object = (rv: string): object => ({ metadata: { uid: "u", resourceVersion: rv } });

// An object at version 1 that a has changed to version 2.
function start() {
  const browser = new Browser();
  const live: Live = new Live("ws://x", browser, () => held.reconnected());
  const held = new Held(live, () => browser.time, "core/v1/pods", { ns: "shop", name: "web" }, () => undefined);
  live.connect();
  browser.socket.accept();
  const tell = (m: object): void => browser.socket.say({ id: browser.socket.last["id"], ...m });
  tell({ type: "state", state: "live" });
  tell({ type: "snapshot", cursor: "c1", object: object("1"), last: true });
  tell({ type: "events", cursor: "c2", events: [{ op: "update", uid: "u", rv: "2", patch: [{ op: "replace", path: "/metadata/resourceVersion", value: "2" }], by: { manager: "a", operation: "Update" } }] });
  return { live, held, tell, last: () => held.last?.by[0]?.manager };
}

void test("a right that goes takes along what was last known, and who made it", () => {
  for (const m of [{ type: "state", state: "forbidden" }, { type: "error", problem: { title: "Forbidden", status: 403 } }]) {
    const s = start();
    assert.deepEqual([s.held.object, s.last()], [object("2"), "a"]);
    s.tell(m);
    assert.deepEqual([s.held.object, s.last()], [null, undefined]);
  }
});
