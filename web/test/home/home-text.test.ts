import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  bytesOf,
  changeText,
  crashedPod,
  emptyText,
  fieldText,
  countOf,
  matchesFilter,
  overallState,
  podsText,
  progressText,
  quotaText,
  sentenceOf,
} from "../../static/src/home/home-text.ts";
import { readOverview, type Finding, type Overview, type Watched } from "../../static/src/net/overview.ts";
import type { JsonObject, StateName } from "../../static/src/net/wire.ts";

const overview = readOverview(
  (JSON.parse(readFileSync("../internal/web/testdata/overview.json", "utf8")) as { overview: JsonObject }).overview,
) as Overview;
const problem = (name: string): Finding => overview.problems.find((p) => p.name === name) as Finding;
const watched = (kind: string, state: StateName, objects = 10, reason = ""): Watched => ({
  resource: `core/v1/${kind.toLowerCase()}s`,
  kind,
  state,
  since: "2026-11-27T09:00:00Z",
  reason,
  namespaces: [],
  objects,
  bytes: 1,
});
const quiet = (...resources: Watched[]): Overview => ({
  ...overview,
  problems: [],
  total: 0,
  watched: resources,
  planned: 0,
});

void test("the sentence of the cause replaces the sentence of the object", () => {
  assert.match(sentenceOf(problem("recommender")), /^Container recommender: CrashLoopBackOff/);
  assert.equal(
    sentenceOf(problem("price-feed")),
    "0 of 2 endpoints ready",
    "a cause without a sentence keeps the sentence of the object",
  );
  const self = { ...problem("node-07"), cause: { ...problem("node-07"), sentence: "other", missing: false } };
  assert.equal(sentenceOf(self), "Kubelet stopped posting node status");
});

void test("changed fields have short names", () => {
  for (const [what, want] of [
    ["", "spec"],
    ["spec.replicas", "replicas"],
    ["spec.template.spec.containers[web].image", "image"],
    ["spec.template.spec.containers[a].env[LOG_LEVEL].value", "env LOG_LEVEL"],
    ["spec.template.spec.volumes[t].configMap.name, spec.replicas", "configMap.name and 1 more"],
    ["spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]", "kubectl.kubernetes.io/restartedAt"],
    ["data[app.properties] and 2 more", "app.properties and 2 more"],
  ] as const)
    assert.equal(fieldText(what), want);
  const change = problem("price-feed").lastChange;
  assert.ok(change);
  assert.equal(changeText(change, problem("price-feed")), "replicas of Deployment price-feed changed by kubectl-scale");
  assert.equal(changeText({ ...change, by: "" }, null), "replicas changed by an unknown author");
  assert.equal(
    changeText({ ...change, isLater: true }, null),
    "replicas changed by kubectl-scale (after the problem began)",
  );
  const created = { ...change, what: "", isCreation: true };
  assert.equal(changeText(created, null), "created by kubectl-scale");
  assert.equal(changeText(created, problem("price-feed")), "Deployment price-feed created by kubectl-scale");
  const deleted = { ...change, by: "", what: "", isDeletion: true };
  assert.equal(changeText(deleted, null), "deleted");
  assert.equal(changeText(deleted, problem("price-feed")), "Deployment price-feed deleted");
});

void test("the link to the previous log selects the crashing container", () => {
  assert.deepEqual(crashedPod(problem("recommender")), {
    pod: problem("recommender").members[1],
    log: { container: "recommender", previous: true },
  });
  assert.equal(crashedPod(problem("storefront-canary")), null);
});

void test("the counts are of objects, not of problems", () => {
  const one: Overview = { ...overview, problems: [], counts: new Map([["failed", 7]]) };
  assert.equal(countOf(one, "failed"), 7);
  assert.equal(countOf(one, "degraded"), 0);
});

void test("the filter supports the filter words of lists", () => {
  const names = (q: string): string[] => overview.problems.filter((p) => matchesFilter(p, q)).map((p) => p.name);
  assert.equal(names("").length, overview.problems.length);
  assert.deepEqual(names("is:failed SHOP/"), ["storefront-canary", "recommender"]);
  assert.equal(names("is:failing").length, overview.problems.length);
  assert.deepEqual(names("is:progressing"), []);
  assert.deepEqual(names("fast-nvme"), ["model-cache"]);
  assert.deepEqual(names("checkout-74fd-kxh98"), ["checkout"], "the name of a member matches");
  assert.deepEqual(names("cronjob ci/build-cart"), ["build-cart-29731"], "the owner matches");
  assert.deepEqual(names("argocd-controller"), ["recommender"], "the author of the last change matches");
  assert.deepEqual(names("is:unknown"), []);
  const mixed = { ...problem("model-cache"), members: [{ ...problem("recommender"), kind: "Pod" }] };
  assert.ok(
    matchesFilter(mixed, "is:failed") && matchesFilter(mixed, "is:degraded"),
    "a problem matches by the severity of each of its members",
  );
});

void test("the page reports no problems only for resource types that are current", () => {
  const pods = watched("Pod", "live", 3000);
  assert.deepEqual(emptyText(quiet(pods, watched("Node", "live", 12)), ""), {
    title: "No problems in 2 resource types",
    detail: "",
  });
  assert.deepEqual(emptyText(quiet(pods, watched("Node", "syncing", 0)), ""), {
    title: "No problems found yet",
    detail: "Reading resource types: 1 of 2 done.",
  });
  assert.deepEqual(emptyText(quiet(pods, watched("Secret", "forbidden", 0), watched("Node", "stale")), ""), {
    title: "No problems found in 1 resource type",
    detail: "Problems in these resource types may be missing here: Secrets (forbidden), Nodes (stale).",
  });
  assert.equal(emptyText(quiet(watched("Node", "stale")), "").title, "Problems could not be checked");
  assert.equal(emptyText(quiet(), "").title, "Nothing has been read");
  assert.match(emptyText(overview, "-shop").detail, /^11 problems hidden\. The filter does not support “-shop”/);
  assert.deepEqual(emptyText(overview, "zzz"), { title: "No problems match “zzz”", detail: "11 problems hidden" });
});

void test("the page counts as outdated if one of its resources is outdated", () => {
  assert.equal(progressText(quiet(watched("Pod", "live"))), null);
  assert.equal(overallState(quiet(watched("Pod", "live"), watched("Secret", "forbidden"))).state, "live");
  const loading = overallState(quiet(watched("Pod", "live"), watched("Node", "syncing"), watched("Job", "stale")));
  assert.deepEqual([loading.state, loading.count, loading.total], ["syncing", 2, 3]);
  const planned = { ...quiet(watched("Pod", "live"), watched("Node", "syncing")), planned: 20 };
  assert.deepEqual([overallState(planned).count, overallState(planned).total], [1, 20]);
  assert.equal(progressText(planned), "Reading resource types: 1 of 20 done");
  const stale = overallState(quiet(watched("Pod", "live"), watched("Node", "stale", 1, "timeout")));
  assert.deepEqual([stale.state, stale.since, stale.reason], ["stale", "2026-11-27T09:00:00Z", "Nodes: timeout"]);
});

void test("amounts have three digits and a unit", () => {
  assert.equal(bytesOf(1.5 * 2 ** 30, 96 * 2 ** 30), "1.5 of 96 GiB");
  assert.equal(bytesOf(27.3 * 2 ** 30, 3.4 * 2 ** 40), "27.3 GiB of 3.4 TiB");
  assert.equal(bytesOf(27956 * 2 ** 20, 160 * 2 ** 30), "27.3 of 160 GiB");
  const quota = (resource: string, used: string, hard: string): string =>
    quotaText({ name: "", resource, used, hard, percent: 0 });
  assert.equal(quota("requests.memory", "27956Mi", "160Gi"), "27.3 of 160 GiB");
  assert.equal(quota("requests.memory", "512Mi", "160Gi"), "512 MiB of 160 GiB");
  assert.equal(quota("limits.cpu", "1", "4"), "1 core of 4 cores");
  assert.equal(quota("pods", "42", "160"), "42 of 160");
  assert.equal(
    podsText(
      new Map([
        ["Failed", 3],
        ["Running", 1500],
        ["Succeeded", 0],
        ["Odd", 1],
      ]),
    ),
    "1,500 running, 3 failed, 1 odd",
  );
});
