// Shows labels and annotations. Each label is a link to the list of all objects with that label.

import { h, syncChildren, setAttr, setText, textNodes } from "../../ui/dom.ts";
import { bytes, sizeOf } from "../facts/quantity.ts";
import type { Pair } from "../facts/meta.ts";
import { formatView, defaultView } from "../../model/view.ts";
import type { FactView } from "./fact-view.ts";

const maxInlineLength = 140; // characters; a longer annotation is collapsed

export class LabelsView {
  private readonly list = h("ul", { class: "labels" });
  readonly element = h("section", { class: "part" }, h("h3", {}, "Labels"), this.list);

  constructor(private readonly factView: FactView, private readonly ref: string) {}

  show(labels: readonly Pair[]): void {
    this.element.hidden = labels.length === 0;
    syncChildren(
      this.list,
      labels,
      () => h("li", {}, h("a", { "data-address": "" }, h("span"), h("b"))),
      (e, { key, value }) => {
        const a = e.firstElementChild as Element;
        setAttr(a, "href", formatView({ ...defaultView(this.ref), labels: `${key}=${value}` }));
        setAttr(a, "title", `Show all with ${key}=${value}`);
        setText(a.children[0] as Element, `${key}=`);
        setText(a.children[1] as Element, value);
        this.factView.highlightIfChanged(e, value);
      },
    );
  }
}

export class AnnotationsView {
  private readonly list = h("dl", { class: "pairs annotations" });
  readonly element = h("section", { class: "part" }, h("h3", {}, "Annotations"), this.list);

  constructor(private readonly factView: FactView) {}

  show(annotations: readonly Pair[]): void {
    this.element.hidden = annotations.length === 0;
    syncChildren(this.list, annotations, () => h("div", {}, h("dt"), h("dd")), (e, { key, value }) => {
      const [dt, dd] = e.children as unknown as [Element, Element];
      setText(dt, key);
      this.value(dd, value);
      this.factView.highlightIfChanged(dd, value);
    });
  }

  // Shows the value of an annotation. A long value is collapsed. If the user has expanded it, it stays expanded when
  // it changes.
  private value(dd: Element, value: string): void {
    const old = dd.firstElementChild;
    if (value.length <= maxInlineLength && !value.includes("\n")) {
      if (old instanceof HTMLDetailsElement || dd.textContent !== value) dd.replaceChildren(...textNodes(value));
      return;
    }
    const fold =
      old instanceof HTMLDetailsElement
        ? old
        : h("details", {}, h("summary", {}, h("span", { class: "cut" }), h("span", { class: "size" })), h("pre"));
    if (old !== fold) dd.replaceChildren(fold);
    const [summary, pre] = fold.children as unknown as [Element, Element];
    setText(summary.children[0] as Element, value.slice(0, 80).replace(/\s+/g, " "));
    setText(summary.children[1] as Element, bytes(sizeOf(value)));
    setText(pre, value);
  }
}
