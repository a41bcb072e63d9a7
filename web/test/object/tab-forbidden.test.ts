// Invariant: I27, I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { frame, type Part } from "../fake-page.ts";
import { LogsTab } from "../../static/src/object/logs/logs-tab.ts";
import { RelatedTab } from "../../static/src/object/related/related-tab.tsx";
import type { TabHost, TabData } from "../../static/src/object/tab.ts";
import { defaultLog } from "../../static/src/model/view.ts";
import { Upstream } from "../fake-log-server.ts";
import { node } from "./related/graph-fixture.ts";

const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done, 5));
const host = {
  live: { connection: "open", subscribe: () => ({ close: () => undefined }) },
  now: () => 0,
  kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
  name: { ns: "a", name: "web" },
  kindOf: () => undefined,
  kindOfRef: () => undefined,
  log: () => defaultLog,
  find: () => "",
  setFind: () => undefined,
} as unknown as TabHost;
const pod = {
  metadata: { uid: "u" },
  spec: { nodeName: "n", containers: [{ name: "c" }] },
  status: { containerStatuses: [{ name: "c", containerID: "x", state: { running: {} } }] },
};
const shown = (object: object | null, state: string, gone = false): TabData =>
  ({
    object,
    health: null,
    last: null,
    isDeleted: gone,
    info: {
      connection: "open",
      since: 0,
      closeReason: "",
      state: { state, reason: state === "forbidden" ? "no rule" : "" },
      stale: null,
      isComplete: true,
      arriving: 0,
      expected: 0,
      problem: null,
      isReloading: false,
    },
  }) as unknown as TabData;
const text = (tab: { element: unknown }): string => (tab.element as Part).textContent;

const timestamp = "2026-11-21T10:00:00Z";
const openLogs = (upstream: Upstream): LogsTab => new LogsTab({ ...host, live: upstream.live });
const write = (upstream: Upstream, line: string): void => {
  upstream.write(`${timestamp} ${line}\n`);
  frame();
};

void test("losing permission to read the pod ends its log and discards the lines", () => {
  const upstream = new Upstream();
  const tab = openLogs(upstream);
  tab.show(shown(pod, "live"));
  write(upstream, "secret");
  assert.match(text(tab), /secret.*Following/s);
  tab.show(shown(null, "forbidden"));
  frame();
  assert.equal(upstream.unsubscribes, 1);
  assert.ok(!/secret|Following|1 line/.test(text(tab)), text(tab));
  assert.match(text(tab), /you cannot list Pods.*no rule.*Forbidden/is);
  tab.show(shown(pod, "live"));
  write(upstream, "again");
  assert.equal(upstream.requests.length, 2, "the log is requested again when the permission is back");
  assert.match(text(tab), /again.*Following/s);
  tab.close();
});

void test("a log refused with 403 discards its lines", () => {
  const upstream = new Upstream();
  const tab = openLogs(upstream);
  tab.show(shown(pod, "live"));
  write(upstream, "secret");
  upstream.refuse(403, "Forbidden", "no pods/log");
  frame();
  assert.ok(!/secret|Following/.test(text(tab)), text(tab));
  assert.match(text(tab), /Forbidden: you cannot read this log.*no pods\/log.*Forbidden/s);
  tab.close();
});

void test("the log of a deleted pod stays, and is not requested again after an interruption", () => {
  for (const before of [true, false]) {
    const upstream = new Upstream();
    const tab = openLogs(upstream);
    tab.show(shown(pod, "live"));
    write(upstream, "kept");
    if (!before) upstream.interrupt();
    tab.show(shown(pod, "live", true));
    if (before) {
      assert.equal(upstream.unsubscribes, 0);
      write(upstream, "to the end");
      upstream.interrupt();
    }
    frame();
    assert.match(text(tab), /kept.*Pod deleted; no output read after/s);
    upstream.browser.advance(20_000);
    upstream.browser.socket.drop();
    upstream.browser.advance(600);
    upstream.browser.socket.accept();
    assert.equal(upstream.requests.length, 1);
    assert.match(text(tab), /kept.*Pod deleted; no output read after/s);
    const restartedPod = {
      ...pod,
      status: { containerStatuses: [{ ...pod.status.containerStatuses[0], containerID: "y" }] },
    };
    tab.show(shown(restartedPod, "live"));
    write(upstream, "of the next");
    assert.match(
      text(tab),
      /kept.*A new run of the container starts here.*of the next.*Following/s,
      "the log of a recreated pod is read",
    );
    tab.close();
  }
});

void test("losing permission removes the names of related objects", async () => {
  localStorage.setItem("related-as", "list");
  globalThis.fetch = () =>
    Promise.resolve(
      Response.json({
        nodes: [node("web"), node("secret")],
        edges: [{ from: "web", to: "secret", type: "uses", via: "" }],
        truncated: false,
        searched: [],
      }),
    );
  const tab = new RelatedTab(host);
  tab.show(shown(pod, "live"));
  await nextTask();
  assert.match(text(tab), /secret/);
  tab.show(shown(null, "forbidden"));
  assert.ok(!/secret|live|As of|Snapshot/i.test(text(tab)), text(tab));
  assert.match(text(tab), /you cannot list Pods.*no rule/is);
  tab.close();
});
