// Computes the layout of a graph in a web worker, because that can take several hundred milliseconds. Both the page
// and the worker load this file.

import type { GraphLayout, Point } from "./graph-layout.ts";

/** The message that the page sends to the worker: the graph and the size of each card. */
interface LayoutRequest {
  readonly ids: readonly string[];
  readonly links: readonly { readonly from: string; readonly to: string }[];
  readonly width: number;
  readonly height: number;
}

// Larger graphs use an approximate assignment of nodes to columns, because the optimal one takes too long.
const exactRankLimit = 60;

/**
 * Starts a worker that computes the layout of a graph. The promise is rejected if the signal aborts, or if the worker
 * fails.
 */
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
    // Throw the error in a timer, not in the promise. The browser then sends the page an error event of the worker.
    computeLayout(e.data).then(
      (layout) => self.postMessage(layout),
      (err: unknown) =>
        setTimeout(() => {
          throw err;
        }),
    );
  };
}
