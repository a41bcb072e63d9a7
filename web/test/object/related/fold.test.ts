// Invariant: I27.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeDescription } from "../../../static/src/object/related/card.ts";
import { fold, foldRevisions } from "../../../static/src/object/related/fold.ts";
import type { Graph } from "../../../static/src/object/related/graph.ts";
import { linksOf } from "../../../static/src/object/related/graph-layout.ts";
import { edge, graph, node } from "./graph-fixture.ts";

void test("old ReplicaSets without pods share one node until they are opened", () => {
  const names = (g: Graph): string[] => g.nodes.map((n) => (n.folded !== undefined ? `${n.count} in ${n.id}` : n.name));
  const rs = { kind: "ReplicaSet" };
  const nodes = [node("deploy"), node("new", rs), node("old-1", rs), node("old-2", rs), node("pod")];
  const edges = ["new", "old-1", "old-2"].map((name) => edge("deploy", name));
  const all = ["deploy", "new", "old-1", "old-2", "pod"];
  const g = graph(nodes, [...edges, edge("new", "pod")]);
  const folded = foldRevisions(g, new Set());
  assert.deepEqual(names(folded), ["deploy", "new", "2 in deploy+revisions", "pod"]);
  assert.deepEqual(
    linksOf(folded).map((l) => `${l.from} ${l.to}`),
    ["deploy new", "deploy deploy+revisions", "new pod"],
  );
  assert.deepEqual(names(foldRevisions(g, new Set(["deploy+revisions"]))), all);
  // ReplicaSets are not combined if the page cannot know which ones are old, because the graph has no pods or is
  // truncated. They are also not combined if this would hide a ReplicaSet with a problem.
  assert.deepEqual(names(foldRevisions(graph(nodes, edges), new Set())), all);
  assert.deepEqual(names(foldRevisions({ ...g, truncated: true }, new Set())), all);
  const failed = nodes.with(2, node("old-1", { ...rs, severity: "failed" }));
  assert.deepEqual(names(foldRevisions(graph(failed, [...edges, edge("new", "pod")]), new Set())), all);
});

void test("four or more pods of one owner share one node with their worst severity", () => {
  const severities = ["ok", "degraded", "failed", "ok"];
  const pods = severities.map((severity, i) => node(`pod-${i}`, { severity }));
  const rs = node("rs", { kind: "ReplicaSet" });
  const workers = ["node-1", "node-2"].map((name) => node(name, { kind: "Node" }));
  const edges = severities.flatMap((_, i) => [
    edge("rs", `pod-${i}`),
    edge(`pod-${i}`, i < 2 ? "node-1" : "node-2", "uses"),
  ]);
  const g = graph([rs, ...pods, ...workers], edges);
  const folded = fold(g, new Set());
  assert.deepEqual(
    folded.nodes.map((n) => [n.id, n.severity, n.folded?.length ?? 1]),
    [
      ["rs", "none", 1],
      ["rs+pods", "failed", 4],
      ["node-1", "none", 1],
      ["node-2", "none", 1],
    ],
  );
  assert.deepEqual(
    linksOf(folded).map((l) => `${l.from} ${l.to}`),
    ["rs rs+pods", "rs+pods node-1", "rs+pods node-2"],
    "two cards are connected by one line",
  );
  const card = folded.nodes[1];
  assert.equal(card && nodeDescription(card, false), "4 pods: 1 failed, 1 degraded. Show each of them");
  const starting = fold(
    graph([rs, ...pods.map((p) => ({ ...p, severity: "progressing" as const }))], edges),
    new Set(),
  );
  const progressing = starting.nodes[1];
  assert.equal(progressing && nodeDescription(progressing, false), "4 pods: 4 progressing. Show each of them");
  assert.equal(fold(g, new Set(["rs+pods"])), g, "opened");
  const three = graph([rs, ...pods.slice(1), ...workers], edges);
  assert.equal(fold(three, new Set()), three, "three pods have separate cards");
  const ofPod = graph([...pods.slice(0, 1), rs, ...pods.slice(1), ...workers], edges);
  assert.equal(fold(ofPod, new Set()), ofPod, "the subject of the graph is not grouped");
});

void test("the graph of a Node groups the pods that are in no other group", () => {
  const kinds = { kind: "Node", ref: "core/v1/nodes", ns: "" };
  const ofSet = [0, 1, 2, 3].map((i) => node(`set-${i}`));
  const others = [0, 1, 2, 3].map((i) => node(`other-${i}`, { ns: i === 0 ? "b" : "a" }));
  const nodes = [node("worker", kinds), node("rs", { kind: "ReplicaSet" }), node("ds"), ...ofSet, ...others];
  const g = (all: object[], kind = kinds.ref): Graph =>
    graph(
      [{ ...nodes[0], ref: kind }, ...all],
      [
        ...[0, 1, 2, 3].map((i) => edge("rs", `set-${i}`)),
        edge("ds", "other-1"),
        ...[...ofSet, ...others].map((pod) => edge((pod as { id: string }).id, "worker", "uses")),
      ],
    );
  const names = (of: Graph): string[] => of.nodes.map((n) => `${n.id} ${n.folded?.length ?? 1} ${n.ns}`);
  const cards = ["worker 1 ", "rs 1 a", "ds 1 a", "rs+pods 4 a"];
  assert.deepEqual(names(fold(g(nodes.slice(1)), new Set())), [...cards, "worker+pods 4 "]);
  const three = ["other-0 1 b", "other-1 1 a", "other-2 1 a"];
  assert.deepEqual(names(fold(g(nodes.slice(1, -1)), new Set())), [...cards, ...three], "three pods are not grouped");
  assert.equal(fold(g(nodes.slice(1), "core/v1/pods"), new Set()).nodes.length, 8, "the subject is not a Node");
});

void test("configuration and policies that one workload has become chips of its node", () => {
  const deploy = node("deploy", { kind: "Deployment" });
  const other = node("other", { kind: "Deployment" });
  const kinds = { config: "ConfigMap", key: "Secret", rule: "NetworkPolicy", shared: "Secret", broken: "ConfigMap" };
  const used = Object.entries(kinds).map(([name, kind]) =>
    node(name, { kind, ...(name === "broken" ? { state: "missing" } : {}) }),
  );
  const service = node("service", { kind: "Service" });
  const nodes = [deploy, node("rs", { kind: "ReplicaSet" }), node("pod", { kind: "Pod" }), other, service, ...used];
  const g = graph(nodes, [
    edge("deploy", "rs"),
    edge("rs", "pod"),
    edge("deploy", "config", "uses"),
    edge("pod", "config", "uses"),
    edge("pod", "key", "uses"),
    edge("rule", "pod", "selects"),
    edge("service", "pod", "selects"),
    edge("deploy", "shared", "uses"),
    edge("other", "shared", "uses"),
    edge("pod", "broken", "uses"),
  ]);
  const folded = fold(g, new Set());
  assert.deepEqual(
    folded.nodes.map((n) => n.id),
    ["deploy", "rs", "pod", "other", "service", "shared", "broken"],
    "shared and missing objects, and those on the path of a request, stay nodes",
  );
  assert.deepEqual(
    folded.nodes[0]?.chips?.map((n) => n.name),
    ["config", "key", "rule"],
  );
  assert.equal(fold(g, new Set(["deploy+chips"])), g, "opened");
  const two = { ...g, nodes: g.nodes.filter((n) => n.id !== "key"), edges: g.edges.filter((e) => e.to !== "key") };
  assert.equal(fold(two, new Set()), two, "two objects have separate cards");
  const ofConfig = graph([...used, ...nodes.filter((n) => !used.includes(n))], [...g.edges]);
  assert.equal(fold(ofConfig, new Set()), ofConfig, "the subject of the graph stays a node");
});
