// Shows the conditions of an object as a table.

import { formatAgesInSentence } from "../../text/age.ts";
import { h, syncChildren, setAttr, setText } from "../../ui/dom.ts";
import type { Condition } from "../facts/conditions.ts";
import type { FactView } from "./fact-view.ts";

export class ConditionsView {
  private readonly body = h("tbody");
  readonly element = h("section", { class: "part conditions" },
    h("h3", { id: "conditions" }, "Conditions"),
    h(
      "table",
      { "aria-labelledby": "conditions" },
      h(
        "thead",
        {},
        h("tr", {}, ...["Type", "Status", "Reason", "Age"].map((name) => h("th", { scope: "col" }, name))),
      ),
      this.body,
    ),
  );

  constructor(private readonly factView: FactView, private readonly now: () => number) {}

  show(conditions: readonly Condition[]): void {
    this.element.hidden = conditions.length === 0;
    const make = (): Element =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }),
        h("td"),
        h("td", {}, h("span", { class: "reason" }), h("span", { class: "message" })),
        h("td"),
      );
    syncChildren(this.body, conditions, make, (tr, c) => {
      const [type, status, reasonCell, age] = tr.children as unknown as [Element, Element, Element, Element];
      setText(type, c.type);
      setText(status, c.status);
      setAttr(status, "data-tone", c.tone);
      setAttr(status, "title", c.meaning);
      setText(reasonCell.children[0] as Element, c.reason);
      setText(reasonCell.children[1] as Element, c.message);
      setAttr(age, "data-wire", c.since === "" ? null : c.since);
      setAttr(age, "title", c.since === "" ? null : `since ${c.since}`);
      setText(age, c.since === "" ? "" : formatAgesInSentence(c.since, this.now()));
      this.factView.highlightIfChanged(tr, [c.status, c.reason, c.message, c.since].join("\n"));
    });
  }
}
