// Combines similar objects into one node of the graph, so that a large workload needs few cards. The ID of such a node
// contains the ID of the objects' owner, so the node keeps its position when objects are added or deleted.

import { isCounted } from "../../model/severity.ts";
import { severities } from "../../net/verdict.ts";
import type { Graph, GraphNode } from "./graph.ts";

const minPods = 4; // a smaller number of pods is easier to read as cards of their own
const minChips = 3; // the same for the objects that one workload uses

// Kinds that configure a workload. They are not on the path of a request to its pods.
const chipKinds = new Set([
  "ConfigMap",
  "HorizontalPodAutoscaler",
  "NetworkPolicy",
  "PodDisruptionBudget",
  "PriorityClass",
  "RuntimeClass",
  "Secret",
  "ServiceAccount",
  "VerticalPodAutoscaler",
]);

const podsSuffix = "+pods";

const chipsSuffix = "+chips";

/** Whether an ID is that of a node for several pods. */
export const isPodsCard = (id: string): boolean => id.endsWith(podsSuffix);

/** Whether an ID is that of the chips of a workload. */
export const isChips = (id: string): boolean => id.endsWith(chipsSuffix);

/** Returns the ID of a workload's chips. */
export const chipsId = (workload: GraphNode): string => `${workload.id}${chipsSuffix}`;

/** Returns the ID of the workload whose chips have the ID. Returns any other ID as it is. */
export const withoutChips = (id: string): string => (isChips(id) ? id.slice(0, -chipsSuffix.length) : id);

/**
 * For each owner, combines the old ReplicaSets into one node, and the pods into one node. The configuration and the
 * policies of a workload become chips of its node. Does not combine objects whose node or chips the user has opened
 * (`opened`).
 */
export function fold(graph: Graph, opened: ReadonlySet<string>): Graph {
  return foldPods(foldRevisions(foldChips(graph, opened), opened), opened);
}

// Moves configuration and policies that only one workload has into the member `chips` of the workload. Objects with a
// problem stay nodes.
function foldChips(graph: Graph, opened: ReadonlySet<string>): Graph {
  const ownerOf = new Map(graph.edges.filter((e) => e.type === "owns").map((e) => [e.to, e.from]));
  const rootOf = (id: string): string => {
    const path = new Set([id]); // owners can refer to each other
    for (let owner = ownerOf.get(id); owner !== undefined && !path.has(owner); owner = ownerOf.get(id)) {
      path.add(owner);
      id = owner;
    }
    return id;
  };
  const workloadsOf = new Map<string, Set<string>>(); // IDs of the workloads by the ID of what they use
  const add = (id: string, other: string): void => {
    workloadsOf.set(id, (workloadsOf.get(id) ?? new Set()).add(rootOf(other)));
  };
  for (const { from, to, type } of graph.edges) {
    if (type === "owns") continue;
    add(from, to);
    add(to, from);
  }
  const [subject] = graph.nodes;
  const chipsOf = new Map<string, GraphNode[]>();
  for (const n of graph.nodes) {
    const [workload, ...others] = workloadsOf.get(n.id) ?? [];
    const isPlain = n !== subject && n.state === "there" && !isCounted(n.severity) && n.count === 0;
    if (!isPlain || !chipKinds.has(n.kind) || ownerOf.has(n.id)) continue;
    if (workload !== undefined && others.length === 0) chipsOf.set(workload, [...(chipsOf.get(workload) ?? []), n]);
  }
  const moved = new Set<GraphNode>();
  const withChips = graph.nodes.map((n) => {
    const chips = chipsOf.get(n.id) ?? [];
    if (chips.length < minChips || chipKinds.has(n.kind) || opened.has(chipsId(n))) return n;
    for (const chip of chips) moved.add(chip);
    return { ...n, chips };
  });
  if (moved.size === 0) return graph;
  const nodes = withChips.filter((n) => !moved.has(n));
  const ids = new Set(nodes.map((n) => n.id));
  return { ...graph, nodes, edges: graph.edges.filter((e) => ids.has(e.from) && ids.has(e.to)) };
}

/**
 * Combines the old ReplicaSets of each Deployment into one node. A ReplicaSet is old if it has no pods, and another
 * ReplicaSet of the same owner has pods.
 */
export function foldRevisions(graph: Graph, opened: ReadonlySet<string>): Graph {
  // A truncated graph can lack pods, so a ReplicaSet that seems to have no pods is not necessarily old.
  if (graph.truncated) return graph;
  const owners = new Set(graph.edges.filter((e) => e.type === "owns").map((e) => e.from));
  const groups = new Map<string, GraphNode[]>();
  for (const [owner, all] of ownedNodes(graph, "ReplicaSet")) {
    const old = all.filter((n) => !owners.has(n.id) && n.state === "there" && !isCounted(n.severity) && n.count === 0);
    if (old.length > 1 && old.length < all.length) groups.set(`${owner}+revisions`, old);
  }
  return combine(graph, groups, opened);
}

/**
 * Combines the pods of each owner into one node. In the graph of a Kubernetes Node, combines all other pods on that
 * Node into one more node of the graph. Never combines the object whose graph this is.
 */
function foldPods(graph: Graph, opened: ReadonlySet<string>): Graph {
  const subject = graph.nodes[0];
  const groups = new Map<string, GraphNode[]>();
  for (const [owner, all] of ownedNodes(graph, "Pod")) {
    const pods = all.filter((n) => n !== subject && n.state === "there" && n.count === 0);
    if (pods.length >= minPods) groups.set(`${owner}${podsSuffix}`, pods);
  }
  if (subject?.ref === "core/v1/nodes") {
    const grouped = new Set([...groups.values()].flat());
    const pods = podsOnNode(graph, subject).filter((n) => !grouped.has(n));
    if (pods.length >= minPods) groups.set(`${subject.id}${podsSuffix}`, pods);
  }
  return combine(graph, groups, opened);
}

// Returns the pods that run on a Node. Their field spec.nodeName refers to it.
function podsOnNode(graph: Graph, { id }: GraphNode): GraphNode[] {
  const users = new Set(graph.edges.filter((e) => e.type === "uses" && e.to === id).map((e) => e.from));
  return graph.nodes.filter((n) => n.kind === "Pod" && users.has(n.id) && n.state === "there" && n.count === 0);
}

// Returns the nodes of a kind by the ID of their owner.
function ownedNodes(graph: Graph, kind: string): Map<string, GraphNode[]> {
  const nodes = new Map(graph.nodes.filter((n) => n.kind === kind).map((n) => [n.id, n]));
  const owned = new Map<string, GraphNode[]>();
  for (const { from, to, type } of graph.edges) {
    const node = nodes.get(to);
    if (type === "owns" && node !== undefined) owned.set(from, [...(owned.get(from) ?? []), node]);
  }
  return owned;
}

function combine(graph: Graph, groups: ReadonlyMap<string, readonly GraphNode[]>, opened: ReadonlySet<string>): Graph {
  const nodeOf = new Map<string, GraphNode>(); // the node that replaces an object, by the object's ID
  for (const [id, folded] of groups) {
    const [first] = folded;
    if (first === undefined || opened.has(id)) continue;
    const severity = worst(folded);
    const ns = folded.every((n) => n.ns === first.ns) ? first.ns : "";
    for (const n of folded) nodeOf.set(n.id, { ...first, id, ns, name: "", severity, count: folded.length, folded });
  }
  if (nodeOf.size === 0) return graph;
  const idOf = (id: string): string => nodeOf.get(id)?.id ?? id;
  const nodes = graph.nodes.map((n) => nodeOf.get(n.id) ?? n);
  const edges = graph.edges.map((e) => ({ ...e, from: idOf(e.from), to: idOf(e.to) }));
  return { ...graph, nodes: [...new Map(nodes.map((n) => [n.id, n])).values()], edges };
}

const worst = (nodes: readonly GraphNode[]): GraphNode["severity"] =>
  severities[Math.max(...nodes.map((n) => severities.indexOf(n.severity)))] ?? "none";
