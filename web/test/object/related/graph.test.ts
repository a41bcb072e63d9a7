// Invariant: I27.

import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf, readGraph } from "../../../static/src/object/related/graph.ts";
import { linksOf } from "../../../static/src/object/related/graph-layout.ts";
import { edge, graph, node } from "./graph-fixture.ts";

void test("a body that is not a graph is rejected, and invalid parts are dropped", () => {
  for (const body of [null, 7, [], {}, { nodes: [], edges: [] }, { nodes: [{}], edges: [] }, { nodes: [node("x")] }])
    assert.equal(readGraph(body), null);
  const g = readGraph({
    nodes: [node("x", { state: "odd", count: -1, reason: 7 }), node("y", { count: 30, name: "" }), 4],
    edges: [edge("x", "y", "odd"), edge("x", "none"), edge("x", "x"), 4],
    searched: [{ ref: "core/v1/nodes", state: "forbidden", reason: "no" }, 4],
  });
  assert.deepEqual(g, {
    nodes: [
      {
        id: "x",
        ref: "core/v1/pods",
        kind: "Pod",
        ns: "a",
        name: "x",
        state: "unknown",
        reason: "",
        severity: "none",
        count: 0,
      },
      {
        id: "y",
        ref: "core/v1/pods",
        kind: "Pod",
        ns: "a",
        name: "",
        state: "there",
        reason: "",
        severity: "none",
        count: 30,
      },
    ],
    edges: [{ from: "x", to: "y", type: "uses", via: "" }],
    truncated: false,
    searched: [{ ref: "core/v1/nodes", state: "forbidden", reason: "no", namespaces: [] }],
  });
});

void test("the list has each object once, the nearest first", () => {
  const ids = ["pod", "rs", "deploy", "cm", "service", "slice", "hpa", "other"];
  const g = graph(
    ids.map((id) => node(id)),
    [
      edge("rs", "pod"),
      edge("deploy", "rs"),
      edge("pod", "cm", "uses", "spec.volumes.configMap"),
      edge("pod", "cm", "selects"),
      edge("slice", "pod", "uses"),
      edge("service", "pod", "selects"),
      edge("service", "slice"),
      edge("hpa", "deploy", "uses", "spec.scaleTargetRef"),
    ],
  );
  const got = groupsOf(g).map(
    (group) =>
      `${group.title}: ${group.relations
        .map(
          (r) =>
            `${r.node.name}` +
            `${r.intermediate === null ? "" : ` (${r.intermediate.words} ${r.intermediate.object.name})`}` +
            `${r.via === "" ? "" : ` ${r.via}`}`,
        )
        .join(", ")}`,
  );
  assert.deepEqual(got, [
    "Owned by: rs, deploy (owns rs)",
    "Uses: cm spec.volumes.configMap",
    "Used by: slice",
    "Selected by: service",
    "Indirect: hpa (uses deploy) spec.scaleTargetRef",
    "Not connected: other",
  ]);
});

void test("owners in a cycle are listed once", () => {
  const g = graph([node("a"), node("b")], [edge("a", "b"), edge("b", "a")]);
  assert.deepEqual(
    groupsOf(g).map((x) => [x.title, x.relations.length]),
    [["Owned by", 1]],
  );
});

void test("a selects edge is omitted if the object owns the pods", () => {
  const g = graph(
    ["d", "rs", "pod", "service"].map((id) => node(id)),
    [
      edge("d", "rs"),
      edge("rs", "pod"),
      edge("d", "pod", "selects"),
      edge("rs", "pod", "selects"),
      edge("service", "pod", "selects"),
    ],
  );
  assert.deepEqual(
    linksOf(g).map((l) => `${l.from} ${l.types.join()} ${l.to}`),
    ["d owns rs", "rs owns pod", "service selects pod"],
  );
});
