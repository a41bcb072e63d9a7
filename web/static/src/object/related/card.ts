import { h } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { kindIcon } from "../kind-icon.ts";
import type { TabHost } from "../tab.ts";
import { countedSeverities, isCounted } from "../../model/severity.ts";
import { severities } from "../../net/verdict.ts";
import { formatView, objectHref, defaultView } from "../../model/view.ts";
import { chipsId } from "./fold.ts";
import type { GraphNode, NodeState } from "./graph.ts";

/** The color, symbol and text for each state of a node. All three are empty for "there" (the object exists). */
export const stateLabels: Readonly<Record<NodeState, readonly [string, string, string]>> = {
  there: ["", "", ""],
  missing: ["bad", "✕", "missing"],
  forbidden: ["warn", "⊘", "forbidden"],
  unknown: ["quiet", "?", "not examined"],
};

function stateElements(node: GraphNode): HTMLElement[] {
  const [level, symbol, word] = stateLabels[node.state];
  return word === ""
    ? []
    : [
        h(
          "span",
          { class: "state", "data-level": level, title: node.reason === "" ? null : node.reason },
          h("span", { "aria-hidden": "true" }, symbol),
          ` ${word}`,
        ),
      ];
}

export const nodeLabel = (node: GraphNode): string =>
  node.folded !== undefined
    ? `${formatInteger(node.count)} ${node.kind === "Pod" ? "pods" : "old revisions"}`
    : node.count > 0
      ? `${formatInteger(node.count)} more`
      : node.name;

// Describes the pods or old ReplicaSets that share a card, such as ": 2 failed, 1 degraded" or " without pods".
function foldedStates(folded: readonly GraphNode[]): string {
  if (folded[0]?.kind !== "Pod") return " without pods";
  const counts = countedSeverities.map((s) => [folded.filter((n) => n.severity === s).length, s] as const);
  const words = counts.filter(([n]) => n > 0).map(([n, word]) => `${formatInteger(n)} ${word}`);
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}

export function nodeDescription(node: GraphNode, isSelf: boolean): string {
  if (node.folded !== undefined) return `${nodeLabel(node)}${foldedStates(node.folded)}. Show each of them`;
  const word = stateLabels[node.state][2] || (isCounted(node.severity) ? node.severity : "");
  const name =
    node.count > 0
      ? `${formatInteger(node.count)} more of kind ${node.kind}`
      : `${node.kind} ${node.ns === "" ? "" : `${node.ns}/`}${node.name}`;
  return (
    `${name}${isSelf ? ", this object" : ""}${word === "" ? "" : `, ${word}`}` +
    `${node.reason === "" ? "" : `: ${node.reason}`}`
  );
}

/**
 * Returns the URL of an object, or null if it cannot be opened. If inPanel is true, the URL opens the panel instead of
 * the object's own page.
 */
export function nodeHref(node: GraphNode, inPanel: boolean, tab = "related"): string | null {
  if (node.ref === "") return null;
  const ns = node.ns === "" ? [] : [node.ns];
  if (node.count > 0) return formatView({ ...defaultView(node.ref), ns });
  const open = { ns: node.ns, name: node.name };
  return inPanel ? formatView({ ...defaultView(node.ref), ns, open, tab }) : objectHref(node.ref, open, tab);
}

/** Creates a link to an object, or plain text if the object cannot be opened. */
function nodeLink(node: GraphNode, isSelf: boolean, inPanel: boolean, ...children: (Node | string)[]): HTMLElement {
  const href = nodeHref(node, inPanel);
  const attributes = {
    "data-id": node.id,
    "data-state": node.state,
    "data-severity": isCounted(node.severity) ? node.severity : null,
    "data-self": isSelf ? "" : null,
    "data-grouped": node.count > 0 ? "" : null,
    title: nodeDescription(node, isSelf),
  };
  if (node.folded !== undefined)
    return h(
      "button",
      { ...attributes, type: "button", "aria-label": nodeDescription(node, isSelf), "aria-expanded": "false" },
      ...children,
    );
  if (href === null)
    return h(
      "span",
      { ...attributes, tabindex: "0", role: "group", "aria-label": nodeDescription(node, isSelf) },
      ...children,
    );
  return h("a", { ...attributes, href, "data-address": true, "aria-current": isSelf ? "true" : null }, ...children);
}

const maxCells = 14; // more cells do not fit into the width of a card

// Creates a colored cell for each pod that a card represents, the worst pod first, up to maxCells.
function cells(folded: readonly GraphNode[]): HTMLElement[] {
  const rank = (n: GraphNode): number => severities.indexOf(n.severity);
  const shown = [...folded].sort((a, b) => rank(b) - rank(a)).slice(0, maxCells);
  if (shown.length === 0) return [];
  const cell = ({ severity }: GraphNode): HTMLElement => h("span", { class: "cell", "data-severity": severity });
  return [h("span", { class: "cells", "aria-hidden": "true" }, ...shown.map(cell))];
}

/** Creates the card of a node. The end of a long name stays visible, because similar names often differ only there. */
export function createCard(node: GraphNode, isSelf: boolean, inPanel: boolean, host: TabHost): HTMLElement {
  const name = nodeLabel(node);
  const tailStart = name.length > 18 ? name.length - 8 : name.length;
  const namespaceSpan =
    node.ns !== "" && node.ns !== host.name.ns && host.name.ns !== "" ? [h("span", { class: "where" }, node.ns)] : [];
  const e = nodeLink(
    node,
    isSelf,
    inPanel,
    h(
      "span",
      { class: "card-top" },
      kindIcon(node),
      ...(isCounted(node.severity) ? [h("span", { class: "shape", "aria-hidden": "true" })] : []),
      h("span", { class: "kind" }, node.kind),
      ...namespaceSpan,
      ...stateElements(node),
    ),
    h(
      "span",
      { class: "card-name" },
      h("span", { class: "card-head" }, name.slice(0, tailStart)),
      h("span", {}, name.slice(tailStart)),
      ...(node.kind === "Pod" ? cells(node.folded ?? []) : []),
    ),
  );
  e.classList.add("card");
  e.toggleAttribute("data-chips", node.chips !== undefined);
  return e;
}

/**
 * Creates the chips of a workload: one for each kind of its configuration and policies, with the number of objects.
 * They are in front of the card, because a link cannot contain a button. A click shows a card for each object.
 */
export function createChips(workload: GraphNode, chips: readonly GraphNode[]): HTMLElement {
  const byKind = new Map<string, GraphNode[]>();
  for (const chip of chips) byKind.set(chip.kind, [...(byKind.get(chip.kind) ?? []), chip]);
  const lines = [...byKind].map(([kind, nodes]) => `${kind} ${nodes.map((n) => n.name).join(", ")}`);
  // The label starts with the visible text, so that users of speech input can select the button.
  const label = [...byKind.values()].map((nodes) => formatInteger(nodes.length)).join("");
  return h(
    "button",
    {
      type: "button",
      class: "chips",
      "data-id": chipsId(workload),
      title: lines.join("\n"),
      "aria-label": `${label}: ${lines.join("; ")}, of ${workload.kind} ${workload.name}. Show each of them`,
      "aria-expanded": "false",
    },
    ...[...byKind].map(([, nodes]) =>
      h("span", { class: "chip" }, kindIcon(nodes[0] as GraphNode), formatInteger(nodes.length)),
    ),
  );
}
