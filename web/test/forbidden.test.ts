import assert from "node:assert/strict";
import { test } from "node:test";
import { frame, type Part } from "./page.ts";
import { Logs } from "../static/src/tabs/logs.ts";
import { Related } from "../static/src/tabs/related.ts";
import type { Host, Shown } from "../static/src/tabs.ts";
import { usualLog } from "../static/src/view.ts";
import { Upstream } from "./upstream.ts";

const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 5));
const host = {
  now: () => 0,
  kind: { ref: "core/v1/pods", resource: "pods", kind: "Pod" },
  name: { ns: "a", name: "web" },
  kindOf: () => undefined,
  kindOfRef: () => undefined,
  log: () => usualLog,
} as unknown as Host;
const pod = {
  metadata: { uid: "u" },
  spec: { nodeName: "n", containers: [{ name: "c" }] },
  status: { containerStatuses: [{ name: "c", containerID: "x", state: { running: {} } }] },
};
const shown = (object: object | null, state: string, gone = false): Shown =>
  ({
    object,
    health: null,
    last: null,
    gone,
    known: {
      connection: "open",
      since: 0,
      said: "",
      state: { state, reason: state === "forbidden" ? "no rule" : "" },
      stale: null,
      complete: true,
      arriving: 0,
      expected: 0,
      problem: null,
      anew: false,
    },
  }) as unknown as Shown;
const text = (tab: { element: unknown }): string => (tab.element as Part).textContent;

const stamp = "2026-11-21T10:00:00Z";
const logsOf = (up: Upstream): Logs => new Logs({ ...host, live: up.live });
const write = (up: Upstream, line: string): void => {
  up.write(`${stamp} ${line}\n`);
  frame();
};

void test("a log ends, and is not kept, when its pod may not be seen any more", () => {
  const up = new Upstream();
  const tab = logsOf(up);
  tab.show(shown(pod, "live"));
  write(up, "secret");
  assert.match(text(tab), /secret[^]*Following/);
  tab.show(shown(null, "forbidden"));
  frame();
  assert.equal(up.closed, 1);
  assert.ok(!/secret|Following|1 line/.test(text(tab)), text(tab));
  assert.match(text(tab), /you can't list pods[^]*no rule[^]*Forbidden/i);
  tab.show(shown(pod, "live"));
  write(up, "again");
  assert.equal(up.asked.length, 2, "with the right it is asked for again");
  assert.match(text(tab), /again[^]*Following/);
  tab.close();
});

void test("a log that is refused while it is read is not kept", () => {
  const up = new Upstream();
  const tab = logsOf(up);
  tab.show(shown(pod, "live"));
  write(up, "secret");
  up.refuse(403, "Forbidden", "no pods/log");
  frame();
  assert.ok(!/secret|Following/.test(text(tab)), text(tab));
  assert.match(text(tab), /Forbidden: you can't read this log[^]*no pods\/log[^]*Forbidden/);
  tab.close();
});

void test("the log of a pod that is deleted stays, and is not asked for again when it is cut", () => {
  for (const before of [true, false]) {
    const up = new Upstream();
    const tab = logsOf(up);
    tab.show(shown(pod, "live"));
    write(up, "kept");
    if (!before) up.cut();
    tab.show(shown(pod, "live", true));
    if (before) {
      assert.equal(up.closed, 0);
      write(up, "to the end");
      up.cut();
    }
    frame();
    assert.match(text(tab), /kept[^]*Pod deleted; no output read after/);
    up.browser.pass(20_000);
    up.browser.socket.lose();
    up.browser.pass(600);
    up.browser.socket.accept();
    assert.equal(up.asked.length, 1);
    assert.match(text(tab), /kept[^]*Pod deleted; no output read after/);
    const anew = { ...pod, status: { containerStatuses: [{ ...pod.status.containerStatuses[0], containerID: "y" }] } };
    tab.show(shown(anew, "live"));
    write(up, "of the next");
    assert.match(text(tab), /kept[^]*restarted at[^]*of the next[^]*Following/, "one that is made anew is read");
    tab.close();
  }
});

void test("names of what is related go with the right", async () => {
  localStorage.setItem("related-as", "list");
  const node = (id: string): object => ({
    id,
    ref: "core/v1/pods",
    kind: "Pod",
    ns: "a",
    name: id,
    uid: id,
    state: "there",
  });
  globalThis.fetch = () =>
    Promise.resolve(
      Response.json({
        nodes: [node("web"), node("secret")],
        edges: [{ from: "web", to: "secret", type: "uses", via: "" }],
        truncated: false,
        searched: [],
      }),
    );
  const tab = new Related(host);
  tab.show(shown(pod, "live"));
  await turn();
  assert.match(text(tab), /secret/);
  tab.show(shown(null, "forbidden"));
  assert.ok(!/secret|live|As of|Snapshot/i.test(text(tab)), text(tab));
  assert.match(text(tab), /you can't list pods[^]*no rule/i);
  tab.close();
});
