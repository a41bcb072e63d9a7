// Computes a graph layout in a web worker, because it can take several hundred milliseconds.

import type { GraphLayout, Point } from "./graph-layout.ts";

interface Pair {
  readonly from: string;
  readonly to: string;
}

interface LayoutRequest {
  readonly ids: readonly string[];
  readonly heights: readonly number[]; // in the order of `ids`
  readonly links: readonly Pair[];
  /** The column of `from` is to the left of the column of `to`. No line is drawn. */
  readonly columnOrder: readonly Pair[];
  readonly width: number;
}

// With more nodes than this, the optimal assignment of nodes to columns takes too long, so a faster method is used.
const exactRankLimit = 60;

export function layout(order: LayoutRequest, signal: AbortSignal): Promise<GraphLayout> {
  return new Promise((resolve, reject) => {
    // This file contains the code of the worker too, so the worker loads it again.
    const worker = new Worker(import.meta.url, { type: "module" });
    const terminate = (): void => worker.terminate();
    signal.addEventListener("abort", () => {
      terminate();
      reject(new Error("the layout was canceled"));
    });
    worker.addEventListener("message", (e: MessageEvent<GraphLayout>) => {
      terminate();
      resolve(e.data);
    });
    worker.addEventListener("error", (e) => {
      terminate();
      reject(new Error(e.message));
    });
    worker.postMessage(order);
  });
}

async function computeLayout({ ids, heights, links, columnOrder, width }: LayoutRequest): Promise<GraphLayout> {
  const { Graph, layout } = await import("@dagrejs/dagre");
  const g = new Graph();
  g.setGraph({
    rankdir: "LR",
    nodesep: 10,
    edgesep: 8,
    ranksep: 36,
    marginx: 12,
    marginy: 16,
    ranker: ids.length > exactRankLimit ? "longest-path" : "network-simplex",
  });
  g.setDefaultEdgeLabel(() => ({}));
  for (const [i, id] of ids.entries()) g.setNode(id, { width, height: heights[i] ?? 0 });
  for (const { from, to } of columnOrder) g.setEdge(from, to, { weight: 0 });
  for (const { from, to } of links) g.setEdge(from, to, {});
  layout(g);
  const point = ({ x, y }: Point): Point => ({ x, y });
  const size = g.graph() as { width?: number; height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: new Map(ids.map((id) => [id, point(g.node(id) as Point)])),
    links: links.map(({ from, to }) =>
      ((g.edge(from, to) as { points?: Point[] } | undefined)?.points ?? []).map(point),
    ),
  };
}

if (typeof document === "undefined" && typeof self !== "undefined") {
  self.onmessage = (e: MessageEvent<LayoutRequest>): void => {
    // Report errors to the page. A worker fires an error event only for errors outside of promises, so throw the error
    // again in a timer.
    computeLayout(e.data).then(
      (layout) => self.postMessage(layout),
      (err: unknown) =>
        setTimeout(() => {
          throw err;
        }),
    );
  };
}
