import assert from "node:assert/strict";
import { test } from "node:test";
import { clockTime } from "../static/src/age.ts";
import { frame, type Part } from "./page.ts";
import { Logs } from "../static/src/tabs/logs.ts";
import type { Host, Shown } from "../static/src/tabs.ts";
import type { LogName } from "../static/src/view.ts";
import { Upstream } from "./upstream.ts";

const pod = (...containers: string[]): object => ({
  metadata: { uid: "u" },
  spec: { nodeName: "n", containers: containers.map((name) => ({ name })) },
  status: {
    containerStatuses: containers.map((name) => ({ name, containerID: name, restartCount: 1, state: { running: {} } })),
  },
});
const shown = (object: object | null): Shown =>
  ({
    object,
    health: null,
    last: null,
    gone: false,
    known: {
      connection: "open",
      since: 0,
      said: "",
      state: { state: "live", reason: "" },
      stale: null,
      complete: true,
      arriving: 0,
      expected: 0,
      problem: null,
      anew: false,
    },
  }) as unknown as Shown;

const opened = (
  log: () => LogName = () => ({ container: "", previous: false }),
): { readonly up: Upstream; readonly tab: Logs } => {
  const up = new Upstream();
  const host = {
    now: () => up.browser.now(),
    live: up.live,
    kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
    name: { ns: "a", name: "web" },
    log,
  } as unknown as Host;
  return { up, tab: new Logs(host) };
};

void test("the log that the address names is read, of a container that there is", () => {
  let named: LogName = { container: "side", previous: true };
  const { up, tab } = opened(() => named);
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
  assert.deepEqual([read().length, words()], [2, "Container nope[U+202E] not found. Showing the log of main."]);
  named = { container: "late", previous: false };
  tab.look();
  assert.equal(words(), "Container late not found. Showing the log of main.");
  tab.show(shown(pod("main", "side", "late")));
  assert.deepEqual([read().slice(2), words()], [[["late", false, true]], ""], "one that comes is read");
  frame();
  tab.close();
});

const started = (containerID: string, restartCount = 0): Shown =>
  shown({
    ...pod("main"),
    status: { containerStatuses: [{ name: "main", containerID, restartCount, state: { running: {} } }] },
  });
const screen = (tab: Logs): string => {
  frame();
  return ((tab.element as unknown as Part).find("class", "log-screen") as Part).textContent;
};

void test("a container whose log was read before the pod told of it is no other once that broke off, or ended", () => {
  for (const [late, cut] of [[false, true], [true, true], [false, false]]) {
    const { up, tab } = opened();
    tab.show(started(""));
    if (late) tab.show(started("x"));
    up.write("2026-11-21T10:00:01Z one\n");
    tab.show(started("x"));
    if (cut) {
      up.cut();
      tab.show(started("x"));
      assert.equal(up.asked.length, 1, "it goes on by itself");
      up.browser.pass(2000);
      up.write("2026-11-21T10:00:01Z one\n");
    }
    const before = up.asked.length;
    up.end();
    tab.show(started("x"));
    assert.equal(up.asked.length, before, "that was all");
    tab.show(started("y", 1));
    assert.equal(up.asked.length, before + 1, "the next is another");
    assert.match(screen(tab), /one.*Container restarted at/s);
    tab.close();
  }
});

void test("a log that is broken off goes on in that of the next container, without a line twice", () => {
  for (const [lost, told, cut] of [
    [false, false, true],
    [true, false, true],
    [true, true, true],
    [true, true, false],
  ]) {
    const { up, tab } = opened();
    tab.show(started("a"));
    up.write("2026-11-21T10:00:01Z one\n");
    if (lost) {
      up.browser.socket.lose();
      up.browser.pass(600);
      up.browser.socket.accept();
      if (told) tab.show(started("b", 1));
      up.write("2026-11-21T10:00:02Z two\n");
      tab.show(started("b", 1));
    }
    if (cut) {
      const before = up.asked.length;
      up.cut();
      tab.show(started("b", 1));
      up.browser.pass(2000);
      assert.deepEqual(
        up.asked.slice(before).map((m) => m["since"]),
        [`2026-11-21T10:00:0${lost ? 2 : 1}Z`],
        "it is asked for once, from the last line on",
      );
      up.write(`${lost ? "2026-11-21T10:00:02Z two\n" : ""}2026-11-21T10:00:03Z three\n`);
    }
    const before = up.asked.length;
    up.end();
    tab.show(started("b", 1));
    assert.equal(up.asked.length, before, "that was its log");
    const words = screen(tab);
    assert.ok(!words.includes("restarted at"), words);
    for (const line of ["one", ...(lost ? ["two"] : []), ...(cut ? ["three"] : [])])
      assert.equal(words.split(line).length, 2, `${line} in ${words}`);
    tab.close();
  }
});

void test("of a pod that is deleted while its log is broken off it is said what was not read", () => {
  for (const read of [true, false]) {
    const { up, tab } = opened();
    const part = tab.element as unknown as Part;
    tab.show(shown(pod("main")));
    if (read) up.write("2026-11-21T10:00:01Z one\n");
    up.cut();
    tab.show({ ...shown(pod("main")), gone: true });
    const since = clockTime(new Date(0).toISOString(), 0);
    assert.equal(
      (part.find("class", "status") as Part).textContent,
      `Pod deleted; ${read ? `no output read after ${since}` : "no log was read"}`,
    );
    assert.equal(
      (part.find("class", "note") as Part).textContent,
      read ? "" : "No log was read The pod was deleted.",
    );
    tab.close();
    frame();
  }
});

void test("that there is no connection is said as long as there is none", () => {
  const { up, tab } = opened();
  const part = tab.element as unknown as Part;
  const foot = (): string => {
    tab.show(shown(pod("main")));
    return (part.find("class", "log-foot") as Part).textContent.trim();
  };
  foot();
  up.write("2026-11-21T10:00:01Z one\n");
  assert.match(foot(), /^Following/);
  up.browser.socket.lose();
  assert.match(foot(), /^Connection lost at .*\. Reconnecting… +Retry now/);
  up.browser.pass(600);
  assert.match(foot(), /^Disconnected/);
  up.browser.socket.accept();
  assert.match(foot(), /^Waiting for log output; none since [\d:]+( |$)/);
  assert.ok(!foot().includes("Retry now"));
  up.write("2026-11-21T10:00:01Z one\n");
  assert.match(foot(), /^Following/);
  tab.close();
});
