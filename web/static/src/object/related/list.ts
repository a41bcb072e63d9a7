// Shows the related objects as a list, grouped by their relation to the object.

import { h } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import type { TabHost } from "../tab.ts";
import { nodeLink, nodeLabel, stateElements } from "./card.ts";
import { groupsOf, type Graph, type Relation } from "./graph.ts";

export function relatedList(graph: Graph, inPanel: boolean, host: TabHost): HTMLElement {
  const groups = groupsOf(graph);
  const parts = groups.map(({ title, relations }) => {
    const count = relations.reduce((n, r) => n + Math.max(1, r.node.count), 0);
    return h(
      "section",
      {},
      h("h3", { "aria-level": inPanel ? null : "2" }, title, h("span", { class: "count" }, formatInteger(count))),
      h("ul", {}, ...relations.map((r) => item(r, inPanel, host))),
    );
  });
  return h(
    "div",
    { class: "related-list", tabindex: "0", role: "region", "aria-label": "Related objects as a list" },
    ...parts,
  );
}

function item({ node, intermediate, via }: Relation, inPanel: boolean, host: TabHost): HTMLElement {
  const where = node.ns !== "" && node.ns !== host.name.ns ? [h("span", { class: "where" }, `in ${node.ns}`)] : [];
  const intermediateText =
    intermediate === null
      ? []
      : [
          h(
            "span",
            { class: "through" },
            `${intermediate.words} ${intermediate.object.kind} ${nodeLabel(intermediate.object)}`,
          ),
        ];
  const reason = node.reason === "" ? [] : [h("span", { class: "reason" }, node.reason)];
  return h(
    "li",
    {},
    h("span", { class: "kind" }, node.kind),
    h(
      "div",
      {},
      nodeLink(node, false, inPanel, nodeLabel(node)),
      ...where,
      ...stateElements(node),
      ...intermediateText,
      h("span", { class: "via" }, via),
      ...reason,
    ),
  );
}
