// The conditions of an object as a table.

import { passed } from "../age.ts";
import { h, keep, setAttr, setText } from "../dom.ts";
import type { Condition } from "../facts/conditions.ts";
import type { Sheet } from "./sheet.ts";

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

  constructor(private readonly sheet: Sheet, private readonly now: () => number) {}

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
    keep(this.body, conditions, make, (tr, c) => {
      const [type, status, words, age] = tr.children as unknown as [Element, Element, Element, Element];
      setText(type, c.type);
      setText(status, c.status);
      setAttr(status, "data-tone", c.tone);
      setAttr(status, "title", c.meaning);
      setText(words.children[0] as Element, c.reason);
      setText(words.children[1] as Element, c.message);
      setAttr(age, "data-wire", c.since === "" ? null : c.since);
      setAttr(age, "title", c.since === "" ? null : `since ${c.since}`);
      setText(age, c.since === "" ? "" : passed(c.since, this.now()));
      this.sheet.changed(tr, [c.status, c.reason, c.message, c.since].join("\n"));
    });
  }
}
