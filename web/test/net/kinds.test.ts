import assert from "node:assert/strict";
import { test } from "node:test";
import { matchRank, readKinds, readProblems } from "../../static/src/net/kinds.ts";

const kind = (
  kind: string,
  resource: string,
  ...short: string[]
): { kind: string; resource: string; short: string[] } => ({ kind, resource, short });
const kinds = [
  kind("ComponentStatus", "componentstatuses", "cs"),
  kind("ConfigMap", "configmaps", "cm"),
  kind("Endpoints", "endpoints", "ep"),
  kind("Event", "events", "ev"),
  kind("Namespace", "namespaces", "ns"),
  kind("Node", "nodes", "no"),
  kind("PersistentVolumeClaim", "persistentvolumeclaims", "pvc"),
  kind("PersistentVolume", "persistentvolumes", "pv"),
  kind("Pod", "pods", "po"),
  kind("ControllerRevision", "controllerrevisions"),
  kind("DaemonSet", "daemonsets", "ds"),
  kind("Deployment", "deployments", "deploy"),
  kind("HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa"),
  kind("CSIDriver", "csidrivers"),
  kind("CSINode", "csinodes"),
  kind("StorageClass", "storageclasses", "sc"),
  kind("PodDisruptionBudget", "poddisruptionbudgets", "pdb"),
];
const cases: [string, string][] = [
  ["ds", "daemonsets"],
  ["no", "nodes"],
  ["ns", "namespaces"],
  ["ev", "events"],
  ["pv", "persistentvolumes"],
  ["sc", "storageclasses"],
  ["ep", "endpoints"],
  ["cs", "componentstatuses"],
  ["pod", "pods"],
  ["node", "nodes"],
  ["dae", "daemonsets"],
  ["csin", "csinodes"],
  ["poddis", "poddisruptionbudgets"],
  ["apps deploy", "deployments"],
];
for (const [typed, want] of cases) {
  void test(`${typed} matches ${want} best`, () => {
    const terms = typed.split(" ");
    assert.equal(
      kinds.map((k) => ({ k, near: matchRank(k, terms) })).sort((a, b) => a.near - b.near)[0]?.k.resource,
      want,
    );
  });
}

void test("a short name ranks before a full name, then a prefix, then any other match", () => {
  assert.deepEqual(
    [kind("Web", "webs", "pod"), kind("Pod", "pods"), kind("PodTemplate", "podtemplates"), kind("MyPod", "mypods")].map(
      (k) => matchRank(k, ["pod"]),
    ),
    [0, 1, 2, 3],
  );
});

void test("readKinds and readProblems decode the resources response", () => {
  const pods = {
    group: "core",
    version: "v1",
    resource: "pods",
    kind: "Pod",
    namespaced: true,
    shortNames: ["po"],
    categories: ["all"],
    verbs: ["get", "list"],
    preferred: true,
    ref: "core/v1/pods",
    section: "Workloads",
    state: "live",
    count: 3,
  };
  const body = {
    resources: [
      pods,
      { ...pods, resource: "bindings", ref: "", verbs: ["create"] },
      { ...pods, preferred: false },
      { ...pods, group: "example.com", section: "", ref: "", count: undefined },
      null,
      7,
    ],
    problems: [{ group: "metrics.k8s.io", reason: "away" }, {}],
  };
  assert.deepEqual(
    readKinds(body).map((k) => [k.ref, k.section, k.count, k.searchText]),
    [
      ["core/v1/pods", "Workloads", 3, "pod pods core po all"],
      ["example.com/v1/pods", "example.com", null, "pod pods example.com po all"],
    ],
  );
  assert.deepEqual(
    readKinds({ resources: [pods, { ...pods, namespaces: ["a", "b"] }] }).map((k) => k.namespaces),
    [0, 2],
  );
  assert.deepEqual([...readProblems(body)], [["metrics.k8s.io", "away"]]);
  assert.deepEqual(readKinds("nonsense"), []);
});
