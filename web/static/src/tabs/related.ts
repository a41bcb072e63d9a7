// The tab with the objects related to an object, as a graph or as a list.

import { clockTime } from "../age.ts";
import { digits, h, setText } from "../dom.ts";
import { Drawing } from "../related/drawing.ts";
import type { Graph } from "../related/graph.ts";
import { listOf } from "../related/list.ts";
import { cardHeight, cardWidth, linksOf } from "../related/picture.ts";
import { every, Reading } from "../related/reading.ts";
import { looked, SearchedView } from "../related/searched.ts";
import { forbidden } from "../status.ts";
import { habits } from "../stored.ts";
import type { Host, Shown, Tab } from "../tabs.ts";
import type { Problem, Tree } from "../wire.ts";

type As = "graph" | "list";

export class Related implements Tab {
  // The id of the node that the user last opened by keyboard. When the graph of that object opens, it receives the
  // focus.
  private static followed = "";
  private readonly asGraph = h("button", { type: "button" }, "Graph");
  private readonly asList = h("button", { type: "button" }, "List");
  private readonly time = h("span", { class: "related-time" });
  private readonly again = h(
    "button",
    { type: "button", class: "icon", "aria-label": "Refresh", title: "Refresh" },
    "↻",
  );
  private readonly zoom = h("span", { class: "zoom" });
  private readonly body = h("div", { class: "related-body" });
  private readonly problem = h("p", { class: "banner", role: "status", hidden: true });
  private readonly searched: SearchedView;
  readonly element = h("div", { class: "related" });
  private readonly drawing: Drawing;
  private readonly reading: Reading;
  private layouting = new AbortController();
  private graph: Graph | null = null;
  private seen: Tree | null = null; // the object of the last request
  private gone = false;
  private at = 0; // ms; when the graph on the screen was read
  private barred = ""; // why the object may no longer be read; empty if it may
  private as: As;

  constructor(private readonly host: Host) {
    const small = matchMedia("(max-width: 800px)").matches;
    const liked = habits.get("related-as");
    this.as = liked === "graph" || liked === "list" ? liked : small ? "list" : "graph";
    this.drawing = new Drawing(host);
    this.searched = new SearchedView(host);
    this.reading = new Reading(
      host,
      (graph, at) => this.read(graph, at),
      (problem) => this.failed(problem),
      () => this.tell(),
    );
    this.asGraph.addEventListener("click", () => this.turn("graph"));
    this.asList.addEventListener("click", () => this.turn("list"));
    this.again.addEventListener("click", () => this.reading.ask());
    this.drawing.element.addEventListener("click", (e) => {
      const id =
        e.detail === 0 && e.target instanceof Element
          ? e.target.closest<HTMLElement>(".card")?.dataset["id"]
          : undefined;
      Related.followed = id ?? "";
    });
    const scale = (sign: string, label: string, run: () => void, more = "icon"): HTMLElement => {
      const b = h("button", { type: "button", class: more, "aria-label": label, title: label }, sign);
      b.addEventListener("click", run);
      return b;
    };
    this.zoom.append(
      scale("−", "Zoom out", () => this.drawing.plane.zoom(0.8)),
      scale("+", "Zoom in", () => this.drawing.plane.zoom(1.25)),
      scale("Fit", "Fit", () => this.drawing.fit(), "fit"),
    );
    this.element.append(
      h(
        "div",
        { class: "related-bar" },
        h("span", { class: "switch", role: "group", "aria-label": "Show as" }, this.asGraph, this.asList),
        h("span", { class: "spring" }),
        this.time,
        this.again,
        this.zoom,
      ),
      this.problem,
      this.body,
      this.searched.element,
    );
    this.arrange();
  }

  show({ object, gone, known }: Shown): void {
    this.gone = gone;
    const why = forbidden(known, this.host.kind.resource);
    const barred = why === null ? "" : JSON.stringify(why);
    if (barred !== this.barred) {
      this.barred = barred;
      this.reading.close();
      this.forget();
      this.problem.hidden = true;
      if (why !== null)
        this.body.replaceChildren(
          h(
            "div",
            { class: "note" },
            h("h2", {}, why.title),
            ...[why.detail, why.next].filter((p) => p !== "").map((p) => h("p", {}, p)),
          ),
        );
      this.tell();
    }
    if (why !== null) return;
    // Read no more graphs of a deleted object. The panel reports that it is deleted.
    if (gone) {
      this.reading.close();
      this.problem.hidden = this.graph !== null;
      setText(this.problem, "The object was deleted before its related objects were loaded.");
      return this.tell();
    }
    if (object === null || object === this.seen) return;
    this.seen = object;
    this.reading.ask();
  }

  tick(): void {
    if (this.seen !== null && !this.gone && document.visibilityState === "visible") this.reading.look();
    this.tell();
  }

  close(): void {
    this.reading.close();
    this.layouting.abort();
    this.drawing.plane.close();
  }

  private read(graph: Graph, at: number): void {
    const same = this.problem.hidden && JSON.stringify(graph) === JSON.stringify(this.graph);
    this.graph = graph;
    this.problem.hidden = true;
    this.at = at;
    this.tell();
    if (same) return;
    this.searched.show(graph);
    this.draw();
  }

  private failed(problem: Problem): void {
    if (problem.status === 403) this.forget();
    this.problem.hidden = false;
    setText(
      this.problem,
      `${problem.title}. ${problem.detail}${this.graph === null ? "" : " Showing the previous result."}`,
    );
    if (this.graph === null) this.body.replaceChildren();
  }

  // Removes the graph after permission is lost.
  private forget(): void {
    this.layouting.abort();
    this.graph = this.seen = null;
    this.searched.clear();
    this.drawing.clear();
    this.body.replaceChildren();
  }

  private tell(): void {
    this.again.disabled = this.reading.busy || this.barred !== "";
    this.element.toggleAttribute("data-busy", this.reading.busy);
    // "Live" in the panel is about the object only. The graph has its own text, which says when it was read.
    const looking = this.graph === null && this.problem.hidden && this.barred === "";
    setText(
      this.time,
      this.graph !== null
        ? `Snapshot from ${clockTime(new Date(this.at).toISOString(), this.host.now())}`
        : looking
          ? "Searching…"
          : "",
    );
    this.time.toggleAttribute("data-dated", this.graph !== null);
    this.time.toggleAttribute("data-old", this.graph !== null && this.host.now() - this.at > 2 * every);
  }

  private turn(as: As): void {
    this.as = as;
    habits.set("related-as", as);
    this.arrange();
    this.draw();
  }

  private arrange(): void {
    this.asGraph.setAttribute("aria-pressed", String(this.as === "graph"));
    this.asList.setAttribute("aria-pressed", String(this.as === "list"));
    this.zoom.hidden = this.as === "list";
  }

  private draw(): void {
    const { graph } = this;
    this.layouting.abort();
    if (graph === null) return;
    const beside = this.element.closest("#panel") !== null;
    if (graph.nodes.length === 1) this.body.replaceChildren(this.alone(graph));
    else if (this.as === "list") this.list(graph, beside);
    else void this.lay(graph, beside);
  }

  private alone(graph: Graph): HTMLElement {
    const all = graph.searched.every(looked);
    return h(
      "div",
      { class: "note" },
      h("h2", {}, all ? "No related objects found" : "No related objects found in the searched resource types"),
      h("p", {}, "It has no owners and no references, and no searched object refers to it."),
    );
  }

  private async lay(graph: Graph, beside: boolean): Promise<void> {
    const { signal } = (this.layouting = new AbortController());
    if (!this.body.contains(this.drawing.element))
      this.body.replaceChildren(h("p", { class: "note" }, `Laying out ${digits(graph.nodes.length)} objects…`));
    try {
      const { layout } = await import("../related/layout.ts");
      const picture = await layout(
        {
          ids: graph.nodes.map((n) => n.id),
          links: linksOf(graph).map(({ from, to }) => ({ from, to })),
          width: cardWidth,
          height: cardHeight,
        },
        signal,
      );
      if (signal.aborted) return;
      this.drawing.draw(graph, picture, beside);
      if (!this.body.contains(this.drawing.element)) this.body.replaceChildren(this.drawing.element);
      if (Related.followed !== "" && Related.followed === graph.nodes[0]?.id) this.drawing.focus();
      Related.followed = "";
    } catch {
      if (signal.aborted) return;
      this.failed({ title: "The graph could not be laid out", status: 0, detail: "The list shows the same objects." });
      this.list(graph, beside);
    }
  }

  // The new list keeps the scroll position and the focus of the previous one.
  private list(graph: Graph, beside: boolean): void {
    const { body } = this;
    const at = body.firstElementChild?.scrollTop ?? 0;
    const focused = body.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset["id"]
      : undefined;
    const list = listOf(graph, beside, this.host);
    body.replaceChildren(list);
    list.scrollTop = at;
    if (focused !== undefined)
      [...list.querySelectorAll<HTMLElement>("[data-id]")]
        .find((e) => e.dataset["id"] === focused)
        ?.focus({ preventScroll: true });
  }
}
