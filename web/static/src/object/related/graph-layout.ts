import type { EdgeType, Graph, GraphNode } from "./graph.ts";

export const cardWidth = 158;
const cardHeight = 42;
const chipsHeight = 22;

/** Returns the height of a card. The chips, if any, are below its text. */
export const heightOf = (node: GraphNode): number => cardHeight + (node.chips === undefined ? 0 : chipsHeight);

/** A line between the cards of two objects, for all relations between these objects. */
export interface GraphLink {
  readonly from: string;
  readonly to: string;
  readonly types: readonly EdgeType[];
  readonly via: readonly string[];
}

/**
 * Returns the lines of a graph. If an object owns the objects that it selects, such as a Deployment and its pods, the
 * line "selects" is omitted, because it adds no information.
 */
export function linksOf(graph: Graph): GraphLink[] {
  const owned = new Map<string, string[]>();
  for (const e of graph.edges) if (e.type === "owns") owned.set(e.from, [...(owned.get(e.from) ?? []), e.to]);
  const descendantsOf = new Map<string, Set<string>>();
  const descendants = (id: string): Set<string> => {
    const all = descendantsOf.get(id) ?? new Set(owned.get(id) ?? []);
    if (descendantsOf.has(id)) return all;
    descendantsOf.set(id, all);
    for (const child of all) for (const grandchild of owned.get(child) ?? []) all.add(grandchild);
    return all;
  };
  const links = new Map<string, { from: string; to: string; types: EdgeType[]; via: string[] }>();
  for (const e of graph.edges) {
    if (e.type === "selects" && descendants(e.from).has(e.to)) continue;
    const key = JSON.stringify([e.from, e.to]);
    const link = links.get(key) ?? { from: e.from, to: e.to, types: [], via: [] };
    links.set(key, link);
    if (!link.types.includes(e.type)) link.types.push(e.type);
    if (e.via !== "" && !link.via.includes(e.via)) link.via.push(e.via);
  }
  return [...links.values()];
}

/**
 * Returns pairs of cards whose first card belongs in a column to the left of the second. They put an object that
 * selects pods, such as a Service, to the left of the workload that owns the pods. The columns then follow the path of
 * a request: Ingress, Service, workload, ReplicaSets, pods.
 */
export function columnOrder(links: readonly GraphLink[]): { from: string; to: string }[] {
  const [owners, targets] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const { from, to, types } of links) {
    targets.set(from, [...(targets.get(from) ?? []), to]);
    if (types.includes("owns")) owners.set(to, [...(owners.get(to) ?? []), from]);
  }
  const pairs = new Map<string, { from: string; to: string }>();
  for (const { from, to, types } of links) {
    if (!types.includes("selects")) continue;
    for (const workload of reachable(to, owners))
      if (!owners.has(workload) && workload !== to) pairs.set(JSON.stringify([from, workload]), { from, to: workload });
  }
  // Omit a pair that contradicts the links, for example that of a StatefulSet and the Service to which it refers.
  return [...pairs.values()].filter(({ from, to }) => !reachable(to, targets).has(from));
}

// Returns all nodes that a node reaches in any number of steps, and the node itself.
function reachable(start: string, next: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set([start]);
  for (const id of found) for (const other of next.get(id) ?? []) found.add(other);
  return found;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A card's position is its center. A line is a list of points that it passes through. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyMap<string, Point>;
  readonly links: readonly (readonly Point[])[]; // points of each line, in the order of LayoutRequest.links
}

/** Returns the SVG path of a line. It is horizontal at both ends and between two cards of a column that it crosses. */
export function pathOf(from: Point, to: Point, points: readonly Point[]): string {
  const half = (from.x <= to.x ? cardWidth : -cardWidth) / 2;
  const n = (v: number): number => Math.round(v * 10) / 10;
  let [x, y] = [from.x + half, from.y];
  let d = `M${n(x)} ${n(y)}`;
  const curve = (toX: number, toY: number): void => {
    const mid = n((x + toX) / 2);
    d += `C${mid} ${n(y)} ${mid} ${n(toY)} ${n(toX)} ${n(toY)}`;
    [x, y] = [toX, toY];
  };
  for (const p of points.slice(1, -1).filter((_, i) => i % 2 === 1)) {
    curve(p.x - half, p.y);
    d += `H${n(p.x + half)}`;
    x = p.x + half;
  }
  curve(to.x - half, to.y);
  return d;
}

/** Returns the position of a line's label: halfway from the line's start to the next column that the line reaches. */
export function labelPosition(from: Point, to: Point, points: readonly Point[]): Point {
  const next = points.length > 3 ? (points[2] as Point) : to;
  return { x: (from.x + next.x) / 2, y: (from.y + next.y) / 2 };
}

/** Sorts cards by column from left to right, and within a column from top to bottom. */
export function readingOrder(ids: readonly string[], layout: GraphLayout): string[] {
  const at = (id: string): Point => layout.nodes.get(id) ?? { x: 0, y: 0 };
  return [...ids].sort((a, b) => Math.round(at(a).x) - Math.round(at(b).x) || at(a).y - at(b).y);
}

/** Returns the card to which an arrow key moves the focus, or null. The left and right arrow keys follow a line. */
export function neighborOf(id: string, key: string, layout: GraphLayout, links: readonly GraphLink[]): string | null {
  const here = layout.nodes.get(id);
  if (here === undefined) return null;
  const y = (other: string): number => Math.abs((layout.nodes.get(other)?.y ?? 0) - here.y);
  const nearest = (ids: readonly string[]): string | null => [...ids].sort((a, b) => y(a) - y(b))[0] ?? null;
  if (key === "ArrowRight") return nearest(links.filter((l) => l.from === id).map((l) => l.to));
  if (key === "ArrowLeft") return nearest(links.filter((l) => l.to === id).map((l) => l.from));
  // The up and down arrow keys move the focus within the column.
  const down = key === "ArrowDown";
  if (!down && key !== "ArrowUp") return null;
  return nearest(
    [...layout.nodes]
      .filter(([, p]) => Math.abs(p.x - here.x) < 1 && (down ? p.y > here.y : p.y < here.y))
      .map(([other]) => other),
  );
}

const columnMargin = 12; // pixels at each side of the shown columns

/** The horizontal range of a column of cards, or of several columns. */
export interface Range {
  readonly left: number;
  readonly right: number;
}

/** Returns the columns of a layout, from left to right. */
export function columnsOf(layout: GraphLayout): Range[] {
  const columns: Range[] = [];
  for (const x of [...layout.nodes.values()].map((n) => n.x).sort((a, b) => a - b)) {
    const [left, right] = [x - cardWidth / 2, x + cardWidth / 2];
    const last = columns.at(-1);
    if (last === undefined || left > last.right) columns.push({ left, right });
    else columns[columns.length - 1] = { left: last.left, right: Math.max(last.right, right) };
  }
  return columns;
}

/**
 * Returns the range of columns to show at once, so that no card is cut: the column at `center` and its neighbors. The
 * range is at most `width` wide, if more than one column fits. Of two equally distant columns, it contains the right
 * one, because the pods are at the right.
 */
export function visibleColumns(columns: readonly Range[], center: number, width: number): Range | null {
  const own = columns.findIndex((c) => c.left <= center && center <= c.right);
  let [first, last] = [0, columns.length - 1];
  const range = (): Range => ({
    left: (columns[first]?.left ?? 0) - columnMargin,
    right: (columns[last]?.right ?? 0) + columnMargin,
  });
  if (own < 0) return null;
  while (first < last && range().right - range().left > width) {
    if (last - own > own - first) last--;
    else first++;
  }
  return range();
}
