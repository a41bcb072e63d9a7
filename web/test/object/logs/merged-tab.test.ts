// Invariant: I28.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { frame, type Part } from "../../fake-page.ts";
import { deployment, FakeCluster, pod, podColumns, replicaSet, tabData } from "../../fake-cluster.ts";
import { MergedLogsTab } from "../../../static/src/object/logs/merged-tab.ts";
import type { LogSelection } from "../../../static/src/model/view.ts";

const sets = { columns: ["Name"], rows: [replicaSet("web-1", "u-set")] };

function open(
  pods: readonly ReturnType<typeof pod>[],
  log: LogSelection = { container: "", previous: false },
  lists: FakeCluster["lists"] = { "core/v1/pods": { columns: podColumns, rows: pods }, "apps/v1/replicasets": sets },
) {
  mock.timers.enable({ apis: ["setTimeout"] });
  const cluster = new FakeCluster(lists);
  const tab = new MergedLogsTab({ ...cluster.host("apps/v1/deployments", "Deployment", "web"), log: () => log });
  tab.show(tabData(deployment));
  cluster.answer();
  frame();
  const element = tab.element as unknown as Part;
  return {
    cluster,
    tab,
    logs: () => cluster.subscribed.filter((s) => s.includes(" log ")),
    lines: () => {
      mock.timers.tick(2000);
      frame();
      return element.querySelectorAll(".log-line").map((e) => e.textContent.replace(/\s+/g, " ").trim());
    },
    colors: () => element.querySelectorAll(".log-source").map((e) => e.getAttribute("data-color")),
    note: () => element.querySelector(".note")?.textContent.replace(/\s+/g, " ").trim() ?? "",
    banner: () => element.querySelector(".banner")?.textContent ?? "",
    foot: () => element.querySelector(".status")?.textContent ?? "",
    close: () => {
      tab.close();
      mock.timers.reset();
    },
  };
}

void test("the logs of all pods are merged by time, with a color for each", () => {
  const t = open([pod("web-7d9f8b-aaaaa"), pod("web-7d9f8b-bbbbb")]);
  assert.deepEqual(t.logs(), ["core/v1/pods log web-7d9f8b-aaaaa main", "core/v1/pods log web-7d9f8b-bbbbb main"]);
  t.cluster.write("web-7d9f8b-bbbbb", "main", "2026-11-21T10:00:02Z two\n2026-11-21T10:00:04Z four\n");
  t.cluster.write("web-7d9f8b-aaaaa", "main", "2026-11-21T10:00:01Z one\n2026-11-21T10:00:03Z three\n");
  assert.deepEqual(t.lines(), ["aaaaa one", "bbbbb two", "aaaaa three", "bbbbb four"]);
  assert.deepEqual(t.colors(), ["0", "1", "0", "1"]);
  t.cluster.write("web-7d9f8b-aaaaa", "main", "2026-11-21T10:00:03.5Z late\n");
  assert.deepEqual(t.lines().slice(-2), ["aaaaa late", "bbbbb four"], "a late line is inserted");
  assert.equal(t.foot(), "Following the logs of 2 containers");
  t.close();
  assert.deepEqual(t.cluster.subscribed, [], "closing the tab ends all subscriptions");
});

void test("a limited number of logs is read, and the page names the limit", () => {
  const t = open(Array.from({ length: 30 }, (_, i) => pod(`web-${String(i).padStart(2, "0")}`)));
  assert.equal(t.logs().length, 20);
  assert.equal(t.banner(), "Only 20 of 30 pods are included, pods with problems first.");
  t.close();
});

void test("previous logs are read only from restarted containers", () => {
  const t = open([pod("web-a"), pod("web-b", { restarts: 2 })], { container: "", previous: true });
  assert.deepEqual(t.logs(), ["core/v1/pods log web-b main"]);
  assert.equal(t.cluster.requests.find((m) => m["view"] === "log")?.["previous"], true);
  t.close();
  const none = open([pod("web-a")], { container: "", previous: true });
  assert.equal(none.note(), "No previous logs None of the selected containers was restarted.");
  none.close();
});

void test("the search text of the URL is found, and a new one is stored in the URL", () => {
  const texts: string[] = [];
  const cluster = new FakeCluster({
    "core/v1/pods": { columns: podColumns, rows: [pod("web-a")] },
    "apps/v1/replicasets": sets,
  });
  let find = "needle";
  const host = {
    ...cluster.host("apps/v1/deployments", "Deployment", "web"),
    find: (tab: string) => (tab === "logs" ? find : ""),
    setFind: (_: string, text: string) => void texts.push((find = text)),
  };
  const tab = new MergedLogsTab(host);
  const box = (tab.element as unknown as Part).querySelector("input");
  assert.equal(box?.value, "needle");
  assert.deepEqual(texts, [], "the URL does not change");
  box?.fire("input", { currentTarget: { value: "hay" } });
  assert.deepEqual(texts, ["hay"]);
  find = "";
  tab.urlChanged();
  assert.equal(box?.value, "");
  tab.close();
});

void test("the filter of the URL is applied, and a new one is stored in the URL", () => {
  const cluster = new FakeCluster({
    "core/v1/pods": { columns: podColumns, rows: [pod("web-a")] },
    "apps/v1/replicasets": sets,
  });
  let log: LogSelection = { container: "web-a/main", previous: false, filter: "is:error needle" };
  const changes: unknown[] = [];
  const tab = new MergedLogsTab({
    ...cluster.host("apps/v1/deployments", "Deployment", "web"),
    log: () => log,
    selectLog: (other, how) => void changes.push([how, (log = other)]),
  });
  const box = (tab.element as unknown as Part).querySelector(".log-filter input");
  assert.equal(box?.value, "needle");
  assert.deepEqual(changes, [], "the URL does not change");
  box?.fire("input", { currentTarget: { value: "hay" } });
  assert.deepEqual(changes, [["replace", { container: "web-a/main", previous: false, filter: "is:error hay" }]]);
  log = { container: "", previous: false };
  tab.urlChanged();
  assert.equal(box?.value, "");
  tab.close();
});

void test("one container can be selected", () => {
  const t = open([pod("web-a"), pod("web-b")], { container: "web-b/main", previous: false });
  assert.deepEqual(t.logs(), ["core/v1/pods log web-b main"]);
  t.close();
});

void test("the log of one container has no note about the limit of pods", () => {
  const pods = Array.from({ length: 30 }, (_, n) => pod(`web-${String(n).padStart(2, "0")}`));
  const t = open(pods, { container: "web-01/main", previous: false });
  assert.equal(t.banner(), "");
  t.close();
});

void test("if pods cannot be listed, the tab shows the reason", () => {
  const t = open([], undefined, { "apps/v1/replicasets": sets });
  assert.match(t.note(), /^Forbidden: you cannot list Pods User ann cannot list this\./);
  assert.equal(t.foot(), "Forbidden");
  t.close();
  const empty = open([]);
  assert.match(empty.note(), /^No pods/);
  empty.close();
});
