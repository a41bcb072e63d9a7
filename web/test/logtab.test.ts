import assert from "node:assert/strict";
import { test } from "node:test";
import { frame, type Part } from "./page.ts";
import { Logs } from "../static/src/tabs/logs.ts";
import type { Host, Shown } from "../static/src/tabs.ts";
import type { LogName } from "../static/src/view.ts";
import { Upstream } from "./upstream.ts";

const pod = (...containers: string[]): object => ({ metadata: { uid: "u" }, spec: { nodeName: "n", containers: containers.map((name) => ({ name })) }, status: { containerStatuses: containers.map((name) => ({ name, containerID: name, restartCount: 1, state: { running: {} } })) } });
const shown = (object: object | null): Shown =>
  ({ object, health: null, last: null, gone: false, known: { connection: "open", since: 0, said: "", state: { state: "live", reason: "" }, stale: null, complete: true, arriving: 0, expected: 0, problem: null, anew: false } }) as unknown as Shown;

void test("the log that the address names is read, of a container that there is", () => {
  const up = new Upstream();
  let named: LogName = { container: "side", previous: true };
  const host = { now: () => 0, live: up.live, kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" }, name: { ns: "a", name: "web" }, log: () => named } as unknown as Host;
  const tab = new Logs(host);
  const read = (): unknown[] => up.asked.map((m) => [m["container"], m["previous"], m["follow"]]);
  const words = (): string => ((tab.element as unknown as Part).find("class", "banner") as Part).textContent;
  tab.show(shown(null));
  assert.deepEqual([read(), words()], [[], ""]);
  tab.show(shown(pod("main", "side")));
  assert.deepEqual([read(), words()], [[["side", true, false]], ""]);
  named = { container: "", previous: false };
  tab.look();
  tab.show(shown(pod("main", "side")));
  assert.deepEqual(read().slice(1), [["main", false, true]], "once");
  named = { container: "nope\u202e", previous: false };
  tab.look();
  assert.deepEqual([read().length, words()], [2, "This pod has no container nope[U+202E]. Shown is the log of main."]);
  named = { container: "late", previous: false };
  tab.look();
  assert.equal(words(), "This pod has no container late. Shown is the log of main.");
  tab.show(shown(pod("main", "side", "late")));
  assert.deepEqual([read().slice(2), words()], [[["late", false, true]], ""], "one that comes is read");
  frame();
  tab.close();
});

void test("a container whose log was read before the pod told of it is no other once that broke off", () => {
  for (const late of [false, true]) {
    const up = new Upstream();
    const host = { now: () => 0, live: up.live, kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" }, name: { ns: "a", name: "web" }, log: () => ({ container: "", previous: false }) } as unknown as Host;
    const tab = new Logs(host);
    const started = (containerID: string, restartCount = 0): Shown => shown({ ...pod("main"), status: { containerStatuses: [{ name: "main", containerID, restartCount, state: { running: {} } }] } });
    tab.show(started(""));
    if (late) tab.show(started("x"));
    up.write("2026-11-21T10:00:01Z one\n");
    tab.show(started("x"));
    up.cut();
    tab.show(started("x"));
    assert.equal(up.asked.length, 1, "it goes on by itself");
    tab.show(started("y", 1));
    assert.equal(up.asked.length, 2, "the next is another");
    tab.close();
  }
});
