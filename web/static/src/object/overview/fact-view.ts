// Renders facts, the named values in the overview of an object, and updates them. A changed value is rewritten and
// highlighted. All other elements stay unchanged.

import { formatAgesInSentence } from "../../text/age.ts";
import { h, syncChildren, setAttr, setText } from "../../ui/dom.ts";
import { highlight } from "../../ui/cell-highlight.ts";
import type { Bar, Fact, Item, Piece, Section, Target } from "../facts/fact.ts";
import { panelHref } from "../../model/view.ts";
import type { TabHost } from "../tab.ts";

export class FactView {
  /** Whether this is the first rendering of an object, which highlights nothing. */
  isFirstRender = true;
  /** Whether a rendered fact has no link, because the resource of the object that it refers to is unknown. */
  hasUnresolvedLinks = false;
  private readonly lastTexts = new WeakMap<Element, string>();

  constructor(private readonly host: TabHost) {}

  /** Renders sections with their facts and items (repeated parts of an object, such as containers). */
  sections(parent: Element, sections: readonly Section[]): void {
    syncChildren(
      parent,
      sections,
      () => h("section", { class: "part" }, h("h3"), h("dl", { class: "pairs" }), h("div", { class: "items" })),
      (e, s) => {
        const [title, dl, items] = e.children as unknown as [HTMLElement, Element, Element];
        title.hidden = s.title === "";
        setText(title, s.title);
        this.facts(dl, s.facts);
        this.items(items, s.items);
      },
    );
  }

  /** Renders facts as an HTML description list. */
  facts(dl: Element, facts: readonly Fact[]): void {
    (dl as HTMLElement).hidden = facts.length === 0;
    syncChildren(dl, facts, () => h("div", {}, h("dt"), h("dd")), (e, f) => {
      const [dt, dd] = e.children as unknown as [HTMLElement, HTMLElement];
      setText(dt, f.name);
      this.pieces(dd, f.pieces, f.bar);
    });
  }

  private items(parent: Element, items: readonly Item[]): void {
    syncChildren(
      parent,
      items,
      () =>
        h(
          "div",
          { class: "item" },
          h("p", { class: "head" }, h("strong"), h("span", { class: "pieces" })),
          h("dl", { class: "pairs" }),
        ),
      (e, i) => {
        const [head, dl] = e.children as unknown as [HTMLElement, HTMLElement];
        setText(head.children[0] as Element, i.title);
        this.pieces(head.children[1] as HTMLElement, i.head);
        this.facts(dl, i.facts);
      },
    );
  }

  /** Renders the pieces of a fact's value. If there is a bar, it is first. */
  pieces(e: HTMLElement, pieces: readonly Piece[], bar?: Bar): void {
    const before = e.querySelector(":scope > .share");
    if (bar === undefined) before?.remove();
    else
      this.bar(
        (before as HTMLElement | null) ??
          e.insertBefore(h("span", { class: "share", "aria-hidden": "true" }), e.firstChild),
        bar,
      );
    const from = bar === undefined ? 0 : 1;
    pieces.forEach((p, i) => {
      const href = p.target === undefined ? null : this.href(p.target);
      const old = e.children[from + i];
      const tag = href === null ? "span" : "a";
      const now = old?.localName === tag ? old : h(tag);
      if (old === undefined) e.append(now);
      else if (old !== now) old.replaceWith(now);
      this.piece(now, p, href);
    });
    while (e.children.length > from + pieces.length) e.lastElementChild?.remove();
    this.highlightIfChanged(e, pieces.map((p) => p.text).join("\n"));
  }

  /** Returns the URL that opens an object in the panel. Returns null if the object's resource is unknown. */
  href({ apiVersion, kind, ns, name }: Target): string | null {
    const resource = this.host.kindOf(apiVersion, kind);
    if (resource === undefined) this.hasUnresolvedLinks = true;
    return resource === undefined ? null : panelHref(resource.ref, { ns: resource.namespaced ? ns : "", name });
  }

  /** Highlights an element if its text differs from the text in the previous call. */
  highlightIfChanged(e: Element, text: string): void {
    const before = this.lastTexts.get(e);
    this.lastTexts.set(e, text);
    if (before !== text && !this.isFirstRender) highlight(e);
  }

  /** Updates the ages in all descendants of an element. */
  tick(root: Element): void {
    for (const e of root.querySelectorAll("[data-wire]"))
      setText(e, formatAgesInSentence(e.getAttribute("data-wire") ?? "", this.host.now()));
  }

  private piece(e: Element, p: Piece, href: string | null): void {
    setAttr(e, "href", href);
    setAttr(e, "data-address", href === null ? null : "");
    setAttr(e, "data-wire", p.isRelative === true ? p.text : null);
    setAttr(e, "title", p.title ?? null);
    setAttr(e, "data-tone", p.tone ?? null);
    setText(e, p.isRelative === true ? formatAgesInSentence(p.text, this.host.now()) : p.text);
  }

  private bar(e: HTMLElement, { actual, desired }: Bar): void {
    const share = Math.max(0, Math.min(1, actual / desired));
    e.style.setProperty("--share", `${share * 100}%`);
    setAttr(e, "data-tone", actual === desired ? "good" : "warn");
  }
}
