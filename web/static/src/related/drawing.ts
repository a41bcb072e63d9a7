// Draws the graph of related objects: a card for each object, lines between the cards, and labels. All are on a plane
// that the user can move and scale.

import { svg } from "../dom.ts";
import type { Host } from "../tabs.ts";
import { card } from "./card.ts";
import type { Graph } from "./graph.ts";
import { Plane } from "./plane.ts";
import {
  cardHeight,
  cardWidth,
  inOrder,
  linksOf,
  neighbour,
  pathOf,
  wordAt,
  type Link,
  type Picture,
} from "./picture.ts";

const dense = 120; // with more lines than this, each line is fainter

export class Drawing {
  private readonly lines = svg("svg", { class: "lines", "aria-hidden": "true" });
  private readonly words = svg("svg", { class: "lines words", "aria-hidden": "true" }); // drawn above the cards
  readonly plane: Plane;
  readonly element: HTMLElement;
  private cards = new Map<string, HTMLElement>();
  private edges: {
    readonly link: Link;
    readonly group: SVGElement;
    readonly word: () => SVGElement;
    told: SVGElement | null;
  }[] = [];
  private links: readonly Link[] = [];
  private picture: Picture | null = null;
  private self = "";

  constructor(private readonly host: Host) {
    this.plane = new Plane();
    this.element = this.plane.element;
    this.element.addEventListener("keydown", (e) => this.key(e));
    for (const [on, lit] of [
      ["pointerover", true],
      ["focusin", true],
      ["pointerout", false],
      ["focusout", false],
    ] as const) {
      this.element.addEventListener(on, (e) => this.light(e.target, lit));
    }
    this.element.addEventListener("focusin", (e) => {
      const at = this.picture?.nodes.get(idOf(e.target) ?? "");
      if (at !== undefined) this.plane.reveal(at.x - cardWidth / 2, at.y - cardHeight / 2, cardWidth, cardHeight);
    });
  }

  /** Draws a graph with its layout. The first drawing is scaled to show all of it, as far as it stays legible. */
  draw(graph: Graph, picture: Picture, beside: boolean): void {
    const before = this.picture;
    const focused = idOf(document.activeElement);
    const had = this.element.contains(document.activeElement);
    this.picture = picture;
    this.links = linksOf(graph);
    this.self = graph.nodes[0]?.id ?? "";
    const byId = new Map(graph.nodes.map((n) => [n.id, n]));
    this.cards = new Map();
    for (const id of inOrder([...byId.keys()], picture)) {
      const n = byId.get(id);
      const at = picture.nodes.get(id);
      if (n === undefined || at === undefined) continue;
      const e = card(n, id === this.self, beside, this.host);
      e.style.transform = `translate(${at.x - cardWidth / 2}px, ${at.y - cardHeight / 2}px)`;
      this.cards.set(id, e);
    }
    this.drawLines(picture);
    this.plane.show(picture.width, picture.height, this.lines, ...this.cards.values(), this.words);
    const here = picture.nodes.get(this.self) ?? { x: 0, y: 0 };
    if (before === null) this.plane.fit(here);
    if (had && focused !== null) this.focus(focused);
  }

  /** Removes the drawing. The next draw is then a first drawing. */
  clear(): void {
    this.picture = null;
    this.links = [];
    this.edges = [];
    this.cards = new Map();
    this.plane.show(0, 0);
    for (const e of [this.lines, this.words]) e.replaceChildren();
  }

  fit(): void {
    this.plane.fit(this.picture?.nodes.get(this.self) ?? { x: 0, y: 0 }, true);
  }

  focus(id = this.self): void {
    (this.cards.get(id) ?? this.cards.get(this.self))?.focus({ preventScroll: true });
  }

  private drawLines(picture: Picture): void {
    for (const e of [this.lines, this.words]) {
      e.setAttribute("width", String(picture.width));
      e.setAttribute("height", String(picture.height));
    }
    this.edges = this.links.flatMap((link, i) => {
      const [from, to] = [picture.nodes.get(link.from), picture.nodes.get(link.to)];
      if (from === undefined || to === undefined) return [];
      const points = picture.links[i] ?? [];
      const d = pathOf(from, to, points);
      const { x, y } = wordAt(from, to, points);
      const said = link.types.join(", ");
      const word = (): SVGElement => svg("text", { x: String(x), y: String(y + 4) }, said);
      const group = svg(
        "g",
        { "data-type": link.types[0], "data-edge": String(i) },
        svg("title", {}, `${said}: ${link.via.join(", ")}`),
        svg("path", { class: "near", d }),
        svg("path", { class: "line", d }),
      );
      return [{ link, group, word, told: null }];
    });
    this.lines.replaceChildren(...this.edges.map((e) => e.group));
    this.lines.toggleAttribute("data-dense", this.edges.length > dense);
    this.words.replaceChildren();
  }

  // Highlights the target of a pointer or focus event (on), or ends that: a line, or all lines of a card, with labels.
  private light(target: EventTarget | null, on: boolean): void {
    const id = idOf(target);
    const group = target instanceof Element ? target.closest("[data-edge]") : null;
    for (const e of this.edges) {
      if (e.group !== group && (id === null || (e.link.from !== id && e.link.to !== id))) continue;
      e.group.toggleAttribute("data-lit", on);
      e.told?.remove();
      e.told = on ? e.word() : null;
      if (e.told !== null) this.words.append(e.told);
    }
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "+" || e.key === "=") this.plane.zoom(1.25);
    else if (e.key === "-") this.plane.zoom(0.8);
    else if (e.key === "0") this.fit();
    else if (e.key === "Home") this.focus();
    else if (e.key.startsWith("Arrow")) {
      const id = idOf(e.target);
      const next = id === null || this.picture === null ? this.self : neighbour(id, e.key, this.picture, this.links);
      if (next !== null) this.cards.get(next)?.focus({ preventScroll: true });
    } else return;
    e.preventDefault();
  }
}

const idOf = (target: EventTarget | null): string | null =>
  target instanceof Element ? (target.closest<HTMLElement>(".card")?.dataset["id"] ?? null) : null;
