import assert from "node:assert/strict";
import { test } from "node:test";
import { frame, type Part } from "../../fake-page.ts";
import { deployment, FakeCluster, pod, podColumns, replicaSet, tabData } from "../../fake-cluster.ts";
import { EventsTab } from "../../../static/src/object/events/events-tab.tsx";

const columns = ["Last Seen", "Type", "Reason", "Object", "Source", "Message", "Count"];
const event = (name: string, object: string, reason: string, type = "Normal"): { name: string; cells: string[] } => ({
  name,
  cells: ["2026-11-21T10:00:00Z", type, reason, object, "kubelet", `web: ${reason}`, "1"],
});
const lists = {
  "core/v1/pods": { columns: podColumns, rows: [pod("web-1-aaaaa")] },
  "apps/v1/replicasets": { columns: ["Name"], rows: [replicaSet("web-1", "u-set")] },
  "core/v1/events": {
    columns,
    rows: [
      event("a", "deployment/web", "Scaled"),
      event("b", "replicaset/web-1", "Created"),
      event("c", "pod/web-1-aaaaa", "BackOff", "Warning"),
      event("d", "pod/web-worker-0", "Other"),
    ],
  },
};

function open(shared = "") {
  if (shared !== "") document.documentElement.dataset["shared"] = shared;
  const cluster = new FakeCluster(lists);
  const tab = new EventsTab(cluster.host("apps/v1/deployments", "Deployment", "web"));
  tab.show(tabData(deployment));
  cluster.answer();
  frame();
  document.documentElement.removeAttribute("data-shared");
  const element = tab.element as unknown as Part;
  return {
    cluster,
    tab,
    element,
    reasons: element
      .querySelectorAll("strong")
      .map((e) => e.textContent)
      .sort(),
  };
}

void test("a workload shows the events of all objects that it owns", () => {
  const { cluster, tab, element, reasons } = open();
  assert.deepEqual(reasons, ["BackOff", "Created", "Scaled"]);
  const events = cluster.requests.find((m) => m["resource"] === "core/v1/events");
  assert.deepEqual(
    [events?.["ns"], events?.["fields"]],
    [["shop"], undefined],
    "one subscription covers the events of all objects",
  );
  assert.deepEqual(
    element
      .querySelectorAll(".regarding a")
      .map((a) => a.getAttribute("href"))
      .sort(),
    ["/r/apps/v1/replicasets?ns=shop&open=shop/web-1", "/r/core/v1/pods?ns=shop&open=shop/web-1-aaaaa"],
  );
  tab.close();
  assert.deepEqual(cluster.subscribed, [], "closing the tab ends all subscriptions");
});

void test("guests see the events of the one object that the link includes", () => {
  const { cluster, tab } = open(JSON.stringify([{ resource: "core/v1/events" }]));
  const events = cluster.requests.find((m) => m["resource"] === "core/v1/events");
  assert.equal(events?.["fields"], "involvedObject.uid=u-web");
  assert.equal(cluster.subscribed.length, 1);
  tab.close();
});
