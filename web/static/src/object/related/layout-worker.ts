// Computes the layout of a graph in a web worker, because that takes up to some hundred milliseconds. The page and the
// worker both load this file, which checks where it runs.

import type { GraphLayout, Point } from "./graph-layout.ts";

/** The message to the worker: the graph to lay out. */
interface LayoutRequest {
  readonly ids: readonly string[];
  readonly links: readonly { readonly from: string; readonly to: string }[];
  readonly width: number;
  readonly height: number;
}

// The number of nodes above which approximate ranks (columns) are used, because optimal ones take too long to compute.
const exactRankLimit = 60;

/** Computes the layout of a graph. The promise is rejected if the signal aborts, or if no worker is available. */
export function layout(order: LayoutRequest, signal: AbortSignal): Promise<GraphLayout> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.url, { type: "module" });
    const terminate = (): void => worker.terminate();
    signal.addEventListener("abort", () => {
      terminate();
      reject(new Error("given up"));
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

async function computeLayout({ ids, links, width, height }: LayoutRequest): Promise<GraphLayout> {
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
  for (const id of ids) g.setNode(id, { width, height });
  for (const { from, to } of links) g.setEdge(from, to);
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
    // Throw the error outside the promise. It then reaches the page as an error event of the worker.
    computeLayout(e.data).then(
      (layout) => self.postMessage(layout),
      (err: unknown) =>
        setTimeout(() => {
          throw err;
        }),
    );
  };
}
