// Invariant: I27.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  columnOrder,
  readingOrder,
  linksOf,
  neighborOf,
  pathOf,
  type GraphLayout,
} from "../../../static/src/object/related/graph-layout.ts";
import { edge, graph, node } from "./graph-fixture.ts";

void test("two relations between the same two objects share one line", () => {
  const links = linksOf(
    graph(
      [node("a"), node("b")],
      [edge("a", "b", "owns", "x"), edge("a", "b", "uses", "y"), edge("b", "a", "uses", "y")],
    ),
  );
  assert.deepEqual(links, [
    { from: "a", to: "b", types: ["owns", "uses"], via: ["x", "y"] },
    { from: "b", to: "a", types: ["uses"], via: ["y"] },
  ]);
});

const at = (list: Record<string, [number, number]>): GraphLayout => ({
  width: 0,
  height: 0,
  links: [],
  nodes: new Map(Object.entries(list).map(([id, [x, y]]) => [id, { x, y }])),
});

void test("arrow keys move along lines and within a column", () => {
  const layout = at({ a: [0, 50], b: [200, 0], c: [200, 40], d: [200, 90], e: [400, 0] });
  const links = linksOf(
    graph(
      ["a", "b", "c", "d", "e"].map((id) => node(id)),
      [edge("a", "b"), edge("a", "c"), edge("a", "d"), edge("b", "e")],
    ),
  );
  const go = (id: string, key: string): string | null => neighborOf(id, key, layout, links);
  assert.deepEqual(
    [
      go("a", "ArrowRight"),
      go("c", "ArrowUp"),
      go("c", "ArrowDown"),
      go("d", "ArrowDown"),
      go("c", "ArrowRight"),
      go("e", "ArrowLeft"),
      go("d", "ArrowLeft"),
      go("a", "x"),
      go("none", "ArrowUp"),
    ],
    ["c", "b", "d", null, null, "b", "a", null, null],
  );
  assert.deepEqual(readingOrder(["e", "d", "c", "b", "a"], layout), ["a", "b", "c", "d", "e"]);
});

void test("a line leaves a card on the side of its target", () => {
  assert.equal(pathOf({ x: 100, y: 0 }, { x: 400, y: 50 }, []), "M179 0C250 0 250 50 321 50");
  assert.equal(pathOf({ x: 400, y: 0 }, { x: 100, y: 50 }, []), "M321 0C250 0 250 50 179 50");
  const points = [
    { x: 179, y: 0 },
    { x: 200, y: 7 },
    { x: 300, y: 20 },
    { x: 400, y: 7 },
    { x: 421, y: 50 },
  ];
  assert.equal(
    pathOf({ x: 100, y: 0 }, { x: 500, y: 50 }, points),
    "M179 0C200 0 200 20 221 20H379C400 20 400 50 421 50",
    "a line passes between the cards of the column that it crosses",
  );
});

void test("what selects the pods of a workload is in a column to its left", () => {
  const order = (edges: object[]): string[] => {
    const ids = ["ingress", "service", "deployment", "replicas", "pod", "other"];
    const nodes = ids.map((id) => node(id));
    return columnOrder(linksOf(graph(nodes, edges))).map(({ from, to }) => `${from} ${to}`);
  };
  const owned = [edge("deployment", "replicas"), edge("replicas", "pod")];
  const selected = [edge("ingress", "service", "uses"), edge("service", "pod", "selects")];
  assert.deepEqual(order([...owned, ...selected]), ["service deployment"]);
  assert.deepEqual(order([...owned, edge("deployment", "other"), ...selected]), ["service deployment"]);
  assert.deepEqual(order(selected), [], "a pod without owner has no workload");
  assert.deepEqual(order([...owned, edge("deployment", "service", "uses"), ...selected]), [], "contradicts a line");
  const cycle = [edge("deployment", "pod"), edge("pod", "deployment"), edge("service", "pod", "selects")];
  assert.deepEqual(order(cycle), [], "owners in a cycle");
});
