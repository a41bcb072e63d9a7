// Decodes the responses of /api/v1/related, which contain the objects related to one object.

import { text } from "../../net/text.ts";
import { readVerdict } from "../../net/verdict.ts";
import type { Severity } from "../../net/wire.ts";

const states = ["there", "missing", "forbidden", "unknown"] as const;
export type NodeState = (typeof states)[number];

export interface GraphNode {
  readonly id: string;
  /** The ref (group/version/plural) of the resource. Empty if the kind is not served or not shared. */
  readonly ref: string;
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
  readonly state: NodeState;
  readonly reason: string;
  /** The worst severity of the objects that this node represents. "none" if they have no known verdict. */
  readonly severity: Severity;
  /** The number of objects if this node represents objects without names. 0 if it represents a named object. */
  readonly count: number;
  /** The objects that are combined into this node (see fold.ts), in graph order. undefined for a single object. */
  readonly folded?: readonly GraphNode[];
  /** The configuration and policies of a workload that its card shows (see fold.ts). undefined for none. */
  readonly chips?: readonly GraphNode[];
}

export const types = ["owns", "uses", "selects"] as const;
export type EdgeType = (typeof types)[number];

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly type: EdgeType;
  readonly via: string;
}

/** A resource whose objects the server had to search to find relations. */
export interface Searched {
  readonly ref: string;
  readonly state: string;
  readonly reason: string;
  readonly namespaces: readonly string[];
}

export interface Graph {
  /** The first node is the object whose relations were requested. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
  readonly truncated: boolean;
  readonly searched: readonly Searched[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Decodes a graph. Returns null if the body is not a graph. Invalid parts are skipped. */
export function readGraph(body: unknown): Graph | null {
  if (!isFields(body) || !Array.isArray(body["nodes"]) || !Array.isArray(body["edges"])) return null;
  const nodes = new Map(
    body["nodes"]
      .filter(isFields)
      .map(node)
      .filter((n) => n.id !== "")
      .map((n) => [n.id, n]),
  );
  if (nodes.size === 0) return null;
  const edges = body["edges"].filter(isFields).map(
    (e): Edge => ({
      from: text(e["from"]),
      to: text(e["to"]),
      type: types.find((t) => t === e["type"]) ?? "uses",
      via: text(e["via"]),
    }),
  );
  return {
    nodes: [...nodes.values()],
    edges: edges.filter((e) => nodes.has(e.from) && nodes.has(e.to) && e.from !== e.to),
    truncated: body["truncated"] === true,
    searched: (Array.isArray(body["searched"]) ? body["searched"] : []).filter(isFields).map((s) => ({
      ref: text(s["ref"]),
      state: text(s["state"]),
      reason: text(s["reason"]),
      namespaces: Array.isArray(s["namespaces"]) ? s["namespaces"].map(text) : [],
    })),
  };
}

function node(n: Fields): GraphNode {
  const count = n["count"];
  return {
    id: text(n["id"]),
    ref: text(n["ref"]),
    kind: text(n["kind"]),
    ns: text(n["ns"]),
    name: text(n["name"]),
    state: states.find((s) => s === n["state"]) ?? "unknown",
    reason: text(n["reason"]),
    severity: readVerdict({ severity: n["severity"] }).severity,
    count: typeof count === "number" && count > 0 ? count : 0,
  };
}

const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);

export interface Relation {
  readonly node: GraphNode;
  /**
   * The object through which the node is related, and this object's relation to the node in words. null if the relation
   * is direct.
   */
  readonly intermediate: { readonly words: string; readonly object: GraphNode } | null;
  readonly via: string;
}

interface Group {
  readonly title: string;
  readonly relations: readonly Relation[];
}

/** Returns the related objects by type of relation. Each node is in one group only. */
export function groupsOf(graph: Graph): Group[] {
  const byId = new Map(graph.nodes.map((n) => [n.id, n]));
  const subject = graph.nodes[0] as GraphNode;
  const listed = new Set([subject.id]);
  const groups: Group[] = [];
  const add = (title: string, relations: readonly Relation[]): void => {
    if (relations.length > 0) groups.push({ title, relations });
  };
  const relationTo = (id: string, edge: Edge, intermediate: Relation["intermediate"]): Relation[] => {
    const node = byId.get(id);
    if (node === undefined || listed.has(id)) return [];
    listed.add(id);
    return [{ node, intermediate, via: edge.via }];
  };
  // Returns all direct and indirect owners, or all owned objects. `from` and `to` select the direction.
  const ownerRelations = (from: "from" | "to", to: "from" | "to", relationText: string): Relation[] => {
    const out: Relation[] = [];
    const at = [subject];
    for (let next = at.shift(); next !== undefined; next = at.shift()) {
      for (const e of graph.edges) {
        if (e.type !== "owns" || e[from] !== next.id) continue;
        const found = relationTo(e[to], e, next === subject ? null : { words: relationText, object: next });
        out.push(...found);
        at.push(...found.map((r) => r.node));
      }
    }
    return out;
  };
  const directRelations = (type: EdgeType, from: "from" | "to", to: "from" | "to"): Relation[] =>
    graph.edges.filter((e) => e.type === type && e[from] === subject.id).flatMap((e) => relationTo(e[to], e, null));
  add("Owned by", ownerRelations("to", "from", "owns"));
  add("Owns", ownerRelations("from", "to", "owned by"));
  add("Uses", directRelations("uses", "from", "to"));
  add("Used by", directRelations("uses", "to", "from"));
  add("Selects", directRelations("selects", "from", "to"));
  add("Selected by", directRelations("selects", "to", "from"));
  add("Indirect", indirectRelations(graph.edges, listed, relationTo, byId));
  add(
    "Not connected",
    graph.nodes.filter((n) => !listed.has(n.id)).map((node) => ({ node, intermediate: null, via: "" })),
  );
  return groups;
}

const passiveVerbs = { owns: "owned by", uses: "used by", selects: "selected by" } as const;

// Returns nodes that are related only through other nodes. Nodes with the fewest steps to the subject are first.
function indirectRelations(
  edges: readonly Edge[],
  listed: ReadonlySet<string>,
  relationTo: (id: string, edge: Edge, intermediate: Relation["intermediate"]) => Relation[],
  byId: ReadonlyMap<string, GraphNode>,
): Relation[] {
  const out: Relation[] = [];
  for (let before = -1; before !== out.length; ) {
    before = out.length;
    for (const e of edges) {
      const [from, to] = [byId.get(e.from), byId.get(e.to)];
      if (from === undefined || to === undefined) continue;
      if (listed.has(from.id)) out.push(...relationTo(to.id, e, { words: passiveVerbs[e.type], object: from }));
      else if (listed.has(to.id)) out.push(...relationTo(from.id, e, { words: e.type, object: to }));
    }
  }
  return out;
}
