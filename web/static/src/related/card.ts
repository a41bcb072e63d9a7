// Renders one node of the graph of related objects, as a link if the object can be opened.

import { digits, h } from "../dom.ts";
import type { Host } from "../tabs.ts";
import { formatView, objectHref, plain } from "../view.ts";
import type { GraphNode, NodeState } from "./graph.ts";

/** For each state of a node: its severity, sign and word. All are empty for the normal state. */
const words: Readonly<Record<NodeState, readonly [string, string, string]>> = {
  there: ["", "", ""],
  missing: ["bad", "✕", "missing"],
  forbidden: ["warn", "⊘", "forbidden"],
  unknown: ["quiet", "?", "not checked"],
};

/** Returns an element with the state of a node, in a list; an empty list for the normal state. */
export function stateOf(node: GraphNode): HTMLElement[] {
  const [tone, sign, word] = words[node.state];
  return word === ""
    ? []
    : [
        h(
          "span",
          { class: "state", "data-tone": tone, title: node.reason === "" ? null : node.reason },
          h("span", { "aria-hidden": "true" }, sign),
          ` ${word}`,
        ),
      ];
}

/** Returns the label of a node. */
export const nameOf = (node: GraphNode): string => (node.count > 0 ? `${digits(node.count)} more` : node.name);

/** Describes a node in one sentence, for screen readers. */
export function sentence(node: GraphNode, self: boolean): string {
  const [, , word] = words[node.state];
  const name =
    node.count > 0
      ? `${digits(node.count)} more of kind ${node.kind}`
      : `${node.kind} ${node.ns === "" ? "" : `${node.ns}/`}${node.name}`;
  return `${name}${self ? ", this object" : ""}${word === "" ? "" : `, ${word}`}` +
    `${node.reason === "" ? "" : `: ${node.reason}`}`;
}

/**
  * Returns the URL of a node's object; null if it cannot be opened. beside: whether to open it in the panel beside the
  * table, not on its own page. tab: the tab to show first.
 */
export function hrefOf(node: GraphNode, beside: boolean, tab = "related"): string | null {
  if (node.ref === "") return null;
  const ns = node.ns === "" ? [] : [node.ns];
  if (node.count > 0) return formatView({ ...plain(node.ref), ns });
  const open = { ns: node.ns, name: node.name };
  return beside ? formatView({ ...plain(node.ref), ns, open, tab }) : objectHref(node.ref, open, tab);
}

/** Creates a link to a node, or plain text if it cannot be opened. */
export function linkTo(node: GraphNode, self: boolean, beside: boolean, ...children: (Node | string)[]): HTMLElement {
  const href = hrefOf(node, beside);
  const known = {
    "data-id": node.id,
    "data-state": node.state,
    "data-self": self ? "" : null,
    "data-many": node.count > 0 ? "" : null,
    title: sentence(node, self),
  };
  if (href === null)
    return h("span", { ...known, tabindex: "0", role: "group", "aria-label": sentence(node, self) }, ...children);
  return h("a", { ...known, href, "data-address": true, "aria-current": self ? "true" : null }, ...children);
}

/**
  * Creates the card that represents a node in the graph. A long name is shortened before its end, because the end
  * distinguishes it from similar names.
 */
export function card(node: GraphNode, self: boolean, beside: boolean, host: Host): HTMLElement {
  const name = nameOf(node);
  const cut = name.length > 18 ? name.length - 8 : name.length;
  const where =
    node.ns !== "" && node.ns !== host.name.ns && host.name.ns !== "" ? [h("span", { class: "where" }, node.ns)] : [];
  const e = linkTo(
    node,
    self,
    beside,
    h("span", { class: "card-top" }, h("span", { class: "kind" }, node.kind), ...where, ...stateOf(node)),
    h(
      "span",
      { class: "card-name" },
      h("span", { class: "card-head" }, name.slice(0, cut)),
      h("span", {}, name.slice(cut)),
    ),
  );
  e.classList.add("card");
  return e;
}
