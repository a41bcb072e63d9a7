import { svg } from "../../ui/dom.ts";
import type { TabHost } from "../tab.ts";
import { createCard, createChips } from "./card.ts";
import type { Graph } from "./graph.ts";
import { PanZoom } from "./pan-zoom.ts";
import {
  cardWidth,
  columnsOf,
  heightOf,
  readingOrder,
  linksOf,
  neighborOf,
  pathOf,
  labelPosition,
  type GraphLink,
  type GraphLayout,
} from "./graph-layout.ts";

const denseThreshold = 120; // lines; in a graph with more, each line is drawn fainter

export class GraphView {
  private readonly lines = svg("svg", { class: "lines", "aria-hidden": "true" });
  // The labels of the lines, in front of the cards.
  private readonly labels = svg("svg", { class: "lines words", "aria-hidden": "true" });
  readonly panZoom: PanZoom;
  readonly element: HTMLElement;
  private cards = new Map<string, HTMLElement>();
  private drawnLinks: {
    readonly link: GraphLink;
    readonly group: SVGElement;
    readonly word: () => SVGElement;
    labelElement: SVGElement | null;
  }[] = [];
  private links: readonly GraphLink[] = [];
  private layout: GraphLayout | null = null;
  private selfId = "";

  constructor(private readonly host: TabHost) {
    this.panZoom = new PanZoom();
    this.element = this.panZoom.element;
    this.element.addEventListener("keydown", (e) => this.key(e));
    for (const [on, isHighlighted] of [
      ["pointerover", true],
      ["focusin", true],
      ["pointerout", false],
      ["focusout", false],
    ] as const) {
      this.element.addEventListener(on, (e) => this.highlightLinks(e.target, isHighlighted));
    }
    this.element.addEventListener("focusin", (e) => {
      const at = this.layout?.nodes.get(idOf(e.target) ?? "");
      const height = e.target instanceof HTMLElement ? e.target.offsetHeight : 0;
      if (at !== undefined) this.panZoom.reveal(at.x - cardWidth / 2, at.y - height / 2, cardWidth, height);
    });
  }

  /**
   * Draws a graph. The first drawing shows the entire graph if it stays legible. If the graph contains nodes of
   * `wanted`, it is scaled to fit again, and the first of these nodes receives the focus. Otherwise, the focus stays.
   */
  draw(graph: Graph, layout: GraphLayout, inPanel: boolean, wanted: readonly string[] = []): void {
    const before = this.layout;
    const focused = idOf(document.activeElement);
    const hadFocus = this.element.contains(document.activeElement);
    this.layout = layout;
    this.links = linksOf(graph);
    this.selfId = graph.nodes[0]?.id ?? "";
    const byId = new Map(graph.nodes.map((n) => [n.id, n]));
    this.cards = new Map();
    const elements: HTMLElement[] = [];
    for (const id of readingOrder([...byId.keys()], layout)) {
      const n = byId.get(id);
      const at = layout.nodes.get(id);
      if (n === undefined || at === undefined) continue;
      const e = createCard(n, id === this.selfId, inPanel, this.host);
      const [left, height] = [at.x - cardWidth / 2, heightOf(n)];
      e.style.transform = `translate(${left}px, ${at.y - height / 2}px)`;
      e.style.height = `${height}px`;
      this.cards.set(id, e);
      elements.push(e);
      if (n.chips === undefined) continue;
      const chips = createChips(n, n.chips);
      chips.style.transform = `translate(${left}px, ${at.y + height / 2}px) translateY(-100%)`;
      elements.push(chips);
    }
    this.drawLines(layout);
    this.panZoom.show(layout.width, layout.height, this.lines, ...elements, this.labels);
    const first = [...this.cards.keys()].find((id) => wanted.includes(id));
    if (before === null || first !== undefined)
      this.panZoom.fit(layout.nodes.get(first ?? this.selfId) ?? { x: 0, y: 0 }, columnsOf(layout));
    if (first !== undefined) this.focus(first);
    else if (hadFocus && focused !== null) this.focus(focused);
  }

  /** Removes the drawing. The next drawing is scaled to fit again. */
  clear(): void {
    this.layout = null;
    this.links = [];
    this.drawnLinks = [];
    this.cards = new Map();
    this.panZoom.show(0, 0);
    for (const e of [this.lines, this.labels]) e.replaceChildren();
  }

  fit(): void {
    this.panZoom.fit(this.layout?.nodes.get(this.selfId) ?? { x: 0, y: 0 });
  }

  focus(id = this.selfId): void {
    (this.cards.get(id) ?? this.cards.get(this.selfId))?.focus({ preventScroll: true });
  }

  private drawLines(layout: GraphLayout): void {
    for (const e of [this.lines, this.labels]) {
      e.setAttribute("width", String(layout.width));
      e.setAttribute("height", String(layout.height));
    }
    this.drawnLinks = this.links.flatMap((link, i) => {
      const [from, to] = [layout.nodes.get(link.from), layout.nodes.get(link.to)];
      if (from === undefined || to === undefined) return [];
      const points = layout.links[i] ?? [];
      const d = pathOf(from, to, points);
      const { x, y } = labelPosition(from, to, points);
      const typeText = link.types.join(", ");
      const word = (): SVGElement => svg("text", { x: String(x), y: String(y + 4) }, typeText);
      const group = svg(
        "g",
        { "data-type": link.types[0], "data-edge": String(i) },
        svg("title", {}, `${typeText}: ${link.via.join(", ")}`),
        svg("path", { class: "near", d }),
        svg("path", { class: "line", d }),
      );
      return [{ link, group, word, labelElement: null }];
    });
    this.lines.replaceChildren(...this.drawnLinks.map((e) => e.group));
    this.lines.toggleAttribute("data-dense", this.drawnLinks.length > denseThreshold);
    this.labels.replaceChildren();
  }

  // Highlights lines while the mouse or the focus is on `target`: one line, or all lines of one card.
  private highlightLinks(target: EventTarget | null, on: boolean): void {
    const id = idOf(target);
    const group = target instanceof Element ? target.closest("[data-edge]") : null;
    for (const e of this.drawnLinks) {
      if (e.group !== group && (id === null || (e.link.from !== id && e.link.to !== id))) continue;
      e.group.toggleAttribute("data-highlighted", on);
      e.labelElement?.remove();
      e.labelElement = on ? e.word() : null;
      if (e.labelElement !== null) this.labels.append(e.labelElement);
    }
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "+" || e.key === "=") this.panZoom.zoom(1.25);
    else if (e.key === "-") this.panZoom.zoom(0.8);
    else if (e.key === "0") this.fit();
    else if (e.key === "Home") this.focus();
    else if (e.key.startsWith("Arrow")) {
      const id = idOf(e.target);
      const next = id === null || this.layout === null ? this.selfId : neighborOf(id, e.key, this.layout, this.links);
      if (next !== null) this.cards.get(next)?.focus({ preventScroll: true });
    } else return;
    e.preventDefault();
  }
}

const idOf = (target: EventTarget | null): string | null =>
  target instanceof Element ? (target.closest<HTMLElement>(".card")?.dataset["id"] ?? null) : null;
