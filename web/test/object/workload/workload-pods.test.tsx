import assert from "node:assert/strict";
import { test } from "node:test";
import { frame, rendering } from "../../fake-page.ts";
import { deployment, FakeCluster, pod, podColumns, replicaSet, tabData } from "../../fake-cluster.ts";
import { verdictOf } from "../../verdicts.ts";
import { OverviewTab } from "../../../static/src/object/overview/overview-tab.tsx";
import { Pods } from "../../../static/src/object/workload/pods.tsx";
import { WorkloadPods } from "../../../static/src/object/workload/workload-pods.ts";
import { mount } from "../../../static/src/ui/view.tsx";
import type { Part } from "../../fake-page.ts";

const crash = verdictOf("failed", "Container main: CrashLoopBackOff, last exit 1", "CrashLoopBackOff");
const sets = { columns: ["Name"], rows: [replicaSet("web-1", "u-set"), replicaSet("other-1", "u-other", "u-else")] };
const refs = ["apps/v1/deployments", "Deployment", "web"] as const;

function follow(lists: FakeCluster["lists"], object: object = deployment) {
  const cluster = new FakeCluster(lists);
  const workload = new WorkloadPods(cluster.host(...refs), () => undefined);
  workload.show(object as never);
  cluster.answer();
  return { cluster, workload, names: () => workload.pods.map((p) => p.name) };
}

void test("the pods of a workload are those that it owns, the worst first", () => {
  const pods = [
    pod("web-1-a"),
    pod("web-1-b", { restarts: 3, verdict: crash }),
    pod("stray", { set: "other-1", setUid: "u-other" }),
  ];
  const { cluster, workload, names } = follow({
    "core/v1/pods": { columns: podColumns, rows: pods },
    "apps/v1/replicasets": sets,
  });
  assert.deepEqual(names(), ["web-1-b", "web-1-a"]);
  assert.deepEqual(workload.severityCounts, { failed: 1, degraded: 0, progressing: 0 });
  assert.deepEqual(workload.pods[0]?.status, "CrashLoopBackOff");
  assert.deepEqual(
    workload.intermediates.map((o) => (o["metadata"] as { name: string }).name),
    ["web-1"],
    "a ReplicaSet of another workload does not count as a revision",
  );
  assert.ok(cluster.subscribed.includes("core/v1/pods table app=web"));
  workload.show(deployment as never);
  assert.equal(cluster.subscribed.filter((s) => s.includes(" table ")).length, 2, "the lists are subscribed only once");
  workload.close();
  assert.deepEqual(cluster.subscribed, [], "closing the tab ends all subscriptions");
});

void test("only the first 20 pods are loaded completely", () => {
  const rows = Array.from({ length: 60 }, (_, i) => pod(`web-1-${String(i).padStart(2, "0")}`));
  const { cluster, workload, names } = follow({
    "core/v1/pods": { columns: podColumns, rows },
    "apps/v1/replicasets": sets,
  });
  assert.equal(names().length, 60);
  assert.equal(cluster.subscribed.filter((s) => s.startsWith("core/v1/pods object")).length, 20);
  workload.close();
});

void test("the pods of a CronJob are those of its Jobs", () => {
  const cronJob = { metadata: { name: "web", uid: "u-cron" }, spec: {} };
  const job = (name: string, owner: string): (typeof sets.rows)[number] => ({
    name,
    cells: [name],
    object: {
      metadata: { name, uid: `u-${name}`, ownerReferences: [{ kind: "CronJob", uid: owner, controller: true }] },
    },
  });
  const cluster = new FakeCluster({
    "batch/v1/jobs": {
      columns: ["Name"],
      rows: [job("web-28", "u-cron"), job("web-29", "u-else"), job("x", "u-cron")],
    },
    "core/v1/pods": { columns: podColumns, rows: [] },
  });
  const workload = new WorkloadPods(cluster.host("batch/v1/cronjobs", "CronJob", "web"), () => undefined);
  workload.show(cronJob as never);
  cluster.answer();
  assert.ok(cluster.subscribed.includes("core/v1/pods table batch.kubernetes.io/job-name in (web-28)"));
  workload.close();
});

const sectionText = (workload: WorkloadPods): string => {
  const { part, element } = rendering();
  mount(element, <Pods workload={workload} replicas={null} ns="shop" isDeleted={false} now={0} />);
  return part.textContent.replace(/\s+/g, " ").trim();
};

void test("if pods cannot be read, one sentence shows the reason", () => {
  const { workload } = follow({ "apps/v1/replicasets": sets });
  assert.equal(sectionText(workload), "Pods Pods are not shown: you cannot list Pods in namespace shop.");
  workload.close();
  const none = follow({ "apps/v1/replicasets": sets, "core/v1/pods": { columns: podColumns, rows: [] } });
  assert.equal(sectionText(none.workload), "Pods No pods");
  none.workload.close();
});

void test("a CronJob without permission for Jobs names the Jobs", () => {
  const cluster = new FakeCluster({});
  const workload = new WorkloadPods(cluster.host("batch/v1/cronjobs", "CronJob", "web"), () => undefined);
  workload.show({ metadata: { name: "web", uid: "u-cron" }, spec: {} });
  cluster.answer();
  assert.equal(sectionText(workload), "Pods Pods are not shown: you cannot list Jobs in namespace shop.");
  workload.close();
});

void test("guests see that the share link does not include pods", () => {
  document.documentElement.dataset["shared"] = JSON.stringify([{ resource: "apps/v1/deployments" }]);
  try {
    const { workload } = follow({ "apps/v1/replicasets": sets });
    assert.equal(sectionText(workload), "Pods The share link does not include pods.");
    workload.close();
  } finally {
    document.documentElement.removeAttribute("data-shared");
  }
});

void test("the overview shows the worst pod as the cause, with its previous log", () => {
  const cluster = new FakeCluster({
    "core/v1/pods": { columns: podColumns, rows: [pod("web-1-a"), pod("web-1-b", { restarts: 3, verdict: crash })] },
    "apps/v1/replicasets": sets,
  });
  const tab = new OverviewTab(cluster.host(...refs));
  tab.show(tabData(deployment, { verdict: verdictOf("degraded", "1 of 3 replicas ready") }));
  cluster.answer();
  frame();
  const element = tab.element as unknown as Part;
  const text = element.textContent.replace(/\s+/g, " ");
  assert.match(
    text,
    /^ ?Degraded 1 of 3 replicas ready Cause Pod web-1-b : Container main: CrashLoopBackOff, last exit 1/,
  );
  assert.match(text, /1 of 3 ready, 2 updated, 0 available, 1 failed/);
  const [previous] = element.querySelectorAll(".previous-log");
  assert.equal(
    previous?.getAttribute("href"),
    "/r/core/v1/pods?ns=shop&open=shop/web-1-b&tab=logs&container=main&previous=true",
  );
  tab.close();
  assert.deepEqual(cluster.subscribed, []);
});

void test("the cause that the server sends has priority", () => {
  const cluster = new FakeCluster({ "core/v1/pods": { columns: podColumns, rows: [] }, "apps/v1/replicasets": sets });
  const tab = new OverviewTab(cluster.host(...refs));
  const cause = {
    resource: "core/v1/configmaps",
    kind: "ConfigMap",
    ns: "shop",
    name: "settings",
    sentence: "used by container main",
    missing: true,
  };
  tab.show(tabData(deployment, { verdict: { ...verdictOf("failed", "0 of 3 replicas ready"), cause } }));
  const element = tab.element as unknown as Part;
  assert.match(
    element.textContent.replace(/\s+/g, " "),
    /Cause ConfigMap settings \(does not exist\) : used by container main/,
  );
  assert.equal(element.querySelectorAll(".cause a").length, 0, "a missing object has no link");
  tab.close();
});
