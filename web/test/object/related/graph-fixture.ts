// Creates graphs for tests.

import { readGraph, type Graph } from "../../../static/src/object/related/graph.ts";

export const node = (id: string, more = {}): object => ({
  id,
  ref: "core/v1/pods",
  kind: "Pod",
  ns: "a",
  name: id,
  uid: id,
  state: "there",
  ...more,
});
export const edge = (from: string, to: string, type = "owns", via = ""): object => ({ from, to, type, via });
export const graph = (nodes: object[], edges: object[]): Graph =>
  readGraph({ nodes, edges, truncated: false, searched: [] }) as Graph;
