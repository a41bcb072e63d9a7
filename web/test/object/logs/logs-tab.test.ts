// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clockTime } from "../../../static/src/text/age.ts";
import { frame, type Part } from "../../fake-page.ts";
import { LogsTab } from "../../../static/src/object/logs/logs-tab.ts";
import type { TabHost, TabData } from "../../../static/src/object/tab.ts";
import type { LogSelection } from "../../../static/src/model/view.ts";
import { Upstream } from "../../fake-log-server.ts";

const pod = (...containers: string[]): object => ({
  metadata: { uid: "u" },
  spec: { nodeName: "n", containers: containers.map((name) => ({ name })) },
  status: {
    containerStatuses: containers.map((name) => ({ name, containerID: name, restartCount: 1, state: { running: {} } })),
  },
});
const shown = (object: object | null): TabData =>
  ({
    object,
    health: null,
    last: null,
    gone: false,
    info: {
      connection: "open",
      since: 0,
      closeReason: "",
      state: { state: "live", reason: "" },
      stale: null,
      isComplete: true,
      arriving: 0,
      expected: 0,
      problem: null,
      isReloading: false,
    },
  }) as unknown as TabData;

const openTab = (
  log: () => LogSelection = () => ({ container: "", previous: false }),
): { readonly upstream: Upstream; readonly tab: LogsTab } => {
  const upstream = new Upstream();
  const host = {
    now: () => upstream.browser.now(),
    live: upstream.live,
    kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
    name: { ns: "a", name: "web" },
    log,
    find: () => "",
    setFind: () => undefined,
  } as unknown as TabHost;
  return { upstream, tab: new LogsTab(host) };
};

void test("the tab reads the log that the URL selects, if the container exists", () => {
  let requestedLog: LogSelection = { container: "side", previous: true };
  const { upstream, tab } = openTab(() => requestedLog);
  const read = (): unknown[] => upstream.requests.map((m) => [m["container"], m["previous"], m["follow"]]);
  const words = (): string => ((tab.element as unknown as Part).find("class", "banner") as Part).textContent;
  tab.show(shown(null));
  assert.deepEqual([read(), words()], [[], ""]);
  tab.show(shown(pod("main", "side")));
  assert.deepEqual([read(), words()], [[["side", true, false]], ""]);
  requestedLog = { container: "", previous: false };
  tab.urlChanged();
  tab.show(shown(pod("main", "side")));
  assert.deepEqual(read().slice(1), [["main", false, true]], "the log is requested only once");
  requestedLog = { container: "nope\u202e", previous: false };
  tab.urlChanged();
  assert.deepEqual([read().length, words()], [2, "Container nope[U+202E] not found. Showing the log of main."]);
  requestedLog = { container: "late", previous: false };
  tab.urlChanged();
  assert.equal(words(), "Container late not found. Showing the log of main.");
  tab.show(shown(pod("main", "side", "late")));
  assert.deepEqual([read().slice(2), words()], [[["late", false, true]], ""], "the log of a new container is read");
  frame();
  tab.close();
});

const startedPod = (containerID: string, restartCount = 0): TabData =>
  shown({
    ...pod("main"),
    status: { containerStatuses: [{ name: "main", containerID, restartCount, state: { running: {} } }] },
  });
const screenText = (tab: LogsTab): string => {
  frame();
  return ((tab.element as unknown as Part).find("class", "log-screen") as Part).textContent;
};

void test("a log opened before the container ID is known continues when the ID is known", () => {
  for (const [late, cut] of [
    [false, true],
    [true, true],
    [false, false],
  ]) {
    const { upstream, tab } = openTab();
    tab.show(startedPod(""));
    if (late) tab.show(startedPod("x"));
    upstream.write("2026-11-21T10:00:01Z one\n");
    tab.show(startedPod("x"));
    if (cut) {
      upstream.interrupt();
      tab.show(startedPod("x"));
      assert.equal(upstream.requests.length, 1, "an interrupted log is not requested before the retry delay");
      upstream.browser.advance(2000);
      upstream.write("2026-11-21T10:00:01Z one\n");
    }
    const before = upstream.requests.length;
    upstream.end();
    tab.show(startedPod("x"));
    assert.equal(upstream.requests.length, before, "a completed log is not requested again");
    tab.show(startedPod("y", 1));
    assert.equal(upstream.requests.length, before + 1, "the log of the next run is requested");
    assert.match(screenText(tab), /one.*A new run of the container starts here/s);
    tab.close();
  }
});

void test("an interrupted log continues with the restarted container, without duplicate lines", () => {
  for (const [lost, statusKnown, cut] of [
    [false, false, true],
    [true, false, true],
    [true, true, true],
    [true, true, false],
  ]) {
    const { upstream, tab } = openTab();
    tab.show(startedPod("a"));
    upstream.write("2026-11-21T10:00:01Z one\n");
    if (lost) {
      upstream.browser.socket.drop();
      upstream.browser.advance(600);
      upstream.browser.socket.accept();
      if (statusKnown) tab.show(startedPod("b", 1));
      upstream.write("2026-11-21T10:00:02Z two\n");
      tab.show(startedPod("b", 1));
    }
    if (cut) {
      const before = upstream.requests.length;
      upstream.interrupt();
      tab.show(startedPod("b", 1));
      upstream.browser.advance(2000);
      assert.deepEqual(
        upstream.requests.slice(before).map((m) => m["since"]),
        [`2026-11-21T10:00:0${lost ? 2 : 1}Z`],
        "the log is requested once, from the last line on",
      );
      upstream.write(`${lost ? "2026-11-21T10:00:02Z two\n" : ""}2026-11-21T10:00:03Z three\n`);
    }
    const before = upstream.requests.length;
    upstream.end();
    tab.show(startedPod("b", 1));
    assert.equal(
      upstream.requests.length,
      before,
      "the completed log of the restarted container is not requested again",
    );
    const words = screenText(tab);
    assert.ok(!words.includes("A new run"), words);
    for (const line of ["one", ...(lost ? ["two"] : []), ...(cut ? ["three"] : [])])
      assert.equal(words.split(line).length, 2, `${line} in ${words}`);
    tab.close();
  }
});

void test("after a pod is deleted during an interruption, the footer reports since when no output was read", () => {
  for (const read of [true, false]) {
    const { upstream, tab } = openTab();
    const part = tab.element as unknown as Part;
    tab.show(shown(pod("main")));
    if (read) upstream.write("2026-11-21T10:00:01Z one\n");
    upstream.interrupt();
    tab.show({ ...shown(pod("main")), isDeleted: true });
    const since = clockTime(new Date(0).toISOString(), 0);
    assert.equal(
      (part.find("class", "status") as Part).textContent,
      `Pod deleted; ${read ? `no output read after ${since}` : "no log was read"}`,
    );
    assert.equal((part.find("class", "note") as Part).textContent, read ? "" : "No log was read The pod was deleted.");
    tab.close();
    frame();
  }
});

void test("the footer reports a lost connection while it lasts", () => {
  const { upstream, tab } = openTab();
  const part = tab.element as unknown as Part;
  const footerText = (): string => {
    tab.show(shown(pod("main")));
    return (part.find("class", "log-foot") as Part).textContent.trim();
  };
  footerText();
  upstream.write("2026-11-21T10:00:01Z one\n");
  assert.match(footerText(), /^Following/);
  upstream.browser.socket.drop();
  assert.match(footerText(), /^Connection lost at .*\. Reconnecting… +Retry now/);
  upstream.browser.advance(600);
  assert.match(footerText(), /^Connection lost/);
  upstream.browser.socket.accept();
  assert.match(footerText(), /^Waiting for log output; none received since [\d:]+( |$)/);
  assert.ok(!footerText().includes("Retry now"));
  upstream.write("2026-11-21T10:00:01Z one\n");
  assert.match(footerText(), /^Following/);
  tab.close();
});

void test("a refused log has a button that requests it again", () => {
  const { upstream, tab } = openTab();
  const part = tab.element as unknown as Part;
  tab.show(shown(pod("main")));
  upstream.refuse(500, "Log cannot be read", "The kubelet did not respond.");
  const note = part.find("class", "note") as Part;
  assert.match(note.textContent, /The kubelet did not respond\..*Try again/);
  const before = upstream.requests.length;
  note.querySelector("button")?.click();
  assert.equal(upstream.requests.length, before + 1);
  upstream.write("2026-11-21T10:00:01Z one\n");
  frame();
  assert.equal(note.hidden, true);
  tab.close();
});
