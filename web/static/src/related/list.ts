// The related objects as a list, grouped by their relation to the object.

import { digits, h } from "../dom.ts";
import type { Host } from "../tabs.ts";
import { linkTo, nameOf, stateOf } from "./card.ts";
import { groupsOf, type Graph, type Relation } from "./graph.ts";

export function listOf(graph: Graph, beside: boolean, host: Host): HTMLElement {
  const groups = groupsOf(graph);
  const parts = groups.map(({ title, relations }) => {
    const count = relations.reduce((n, r) => n + Math.max(1, r.node.count), 0);
    return h(
      "section",
      {},
      h("h3", { "aria-level": beside ? null : "2" }, title, h("span", { class: "count" }, digits(count))),
      h("ul", {}, ...relations.map((r) => item(r, beside, host))),
    );
  });
  return h(
    "div",
    { class: "related-list", tabindex: "0", role: "region", "aria-label": "Related objects as a list" },
    ...parts,
  );
}

function item({ node, through, via }: Relation, beside: boolean, host: Host): HTMLElement {
  const where = node.ns !== "" && node.ns !== host.name.ns ? [h("span", { class: "where" }, `in ${node.ns}`)] : [];
  const how =
    through === null
      ? []
      : [h("span", { class: "through" }, `${through.words} ${through.other.kind} ${nameOf(through.other)}`)];
  const reason = node.reason === "" ? [] : [h("span", { class: "reason" }, node.reason)];
  return h(
    "li",
    {},
    h("span", { class: "kind" }, node.kind),
    h(
      "div",
      {},
      linkTo(node, false, beside, nameOf(node)),
      ...where,
      ...stateOf(node),
      ...how,
      h("span", { class: "via" }, via),
      ...reason,
    ),
  );
}
