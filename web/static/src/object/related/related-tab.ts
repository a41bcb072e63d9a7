// The tab with the objects that are related to an object, as a graph or as a list.

import { plural } from "../../net/kinds.ts";
import { clockTime } from "../../text/age.ts";
import { h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { GraphView } from "./graph-view.ts";
import type { Graph } from "./graph.ts";
import { relatedList } from "./list.ts";
import { cardHeight, cardWidth, linksOf } from "./graph-layout.ts";
import { refreshInterval, RelatedPoller } from "./poller.ts";
import { wasSearched, SearchedView } from "./searched.ts";
import { forbiddenNote } from "../../model/status.ts";
import { preferences } from "../../ui/preferences.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { Problem, JsonObject } from "../../net/wire.ts";

type ViewMode = "graph" | "list";

export class RelatedTab implements Tab {
  // The id of the node that the user last opened with the keyboard. When the graph of that object is shown, its node
  // receives the focus.
  private static lastOpenedId = "";
  private readonly graphButton = h("button", { type: "button" }, "Graph");
  private readonly listButton = h("button", { type: "button" }, "List");
  private readonly time = h("span", { class: "related-time" });
  private readonly refreshButton = h(
    "button",
    { type: "button", class: "icon", "aria-label": "Refresh", title: "Refresh" },
    "↻",
  );
  private readonly zoom = h("span", { class: "zoom" });
  private readonly body = h("div", { class: "related-body" });
  private readonly problem = h("p", { class: "banner", role: "status", hidden: true });
  private readonly searched: SearchedView;
  readonly element = h("div", { class: "related" });
  private readonly graphView: GraphView;
  private readonly poller: RelatedPoller;
  private layoutAbort = new AbortController();
  private graph: Graph | null = null;
  private requestedObject: JsonObject | null = null; // version of the object at the last request
  private isDeleted = false;
  private readAt = 0; // time in ms at which the displayed graph was read
  private forbiddenKey = ""; // why the viewer is not permitted to read the object; empty if permitted
  private mode: ViewMode;

  constructor(private readonly host: TabHost) {
    const small = matchMedia("(max-width: 800px)").matches;
    const storedMode = preferences.get("related-as");
    this.mode = storedMode === "graph" || storedMode === "list" ? storedMode : small ? "list" : "graph";
    this.graphView = new GraphView(host);
    this.searched = new SearchedView(host);
    this.poller = new RelatedPoller(
      host,
      (graph, at) => this.showGraph(graph, at),
      (problem) => this.showError(problem),
      () => this.updateStatus(),
    );
    this.graphButton.addEventListener("click", () => this.setMode("graph"));
    this.listButton.addEventListener("click", () => this.setMode("list"));
    this.refreshButton.addEventListener("click", () => this.poller.request());
    this.graphView.element.addEventListener("click", (e) => {
      const id =
        e.detail === 0 && e.target instanceof Element
          ? e.target.closest<HTMLElement>(".card")?.dataset["id"]
          : undefined;
      RelatedTab.lastOpenedId = id ?? "";
    });
    const zoomButton = (sign: string, label: string, run: () => void, more = "icon"): HTMLElement => {
      const b = h("button", { type: "button", class: more, "aria-label": label, title: label }, sign);
      b.addEventListener("click", run);
      return b;
    };
    this.zoom.append(
      zoomButton("−", "Zoom out", () => this.graphView.panZoom.zoom(0.8)),
      zoomButton("+", "Zoom in", () => this.graphView.panZoom.zoom(1.25)),
      zoomButton("Fit", "Fit", () => this.graphView.fit(), "fit"),
    );
    this.element.append(
      h(
        "div",
        { class: "related-bar" },
        h("span", { class: "switch", role: "group", "aria-label": "Show as" }, this.graphButton, this.listButton),
        h("span", { class: "spring" }),
        this.time,
        this.refreshButton,
        this.zoom,
      ),
      this.problem,
      this.body,
      this.searched.element,
    );
    this.updateControls();
  }

  show({ object, isDeleted: gone, info: known }: TabData): void {
    this.isDeleted = gone;
    const why = forbiddenNote(known, plural(this.host.kind));
    const forbiddenKey = why === null ? "" : JSON.stringify(why);
    if (forbiddenKey !== this.forbiddenKey) {
      this.forbiddenKey = forbiddenKey;
      this.poller.close();
      this.clear();
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
      this.updateStatus();
    }
    if (why !== null) return;
    // Stop reading related objects after the object was deleted. The panel already shows that it was deleted.
    if (gone) {
      this.poller.close();
      this.problem.hidden = this.graph !== null;
      setText(this.problem, "The object was deleted before its related objects were loaded.");
      return this.updateStatus();
    }
    if (object === null || object === this.requestedObject) return;
    this.requestedObject = object;
    this.poller.request();
  }

  tick(): void {
    if (this.requestedObject !== null && !this.isDeleted && document.visibilityState === "visible")
      this.poller.refreshIfOld();
    this.updateStatus();
  }

  close(): void {
    this.poller.close();
    this.layoutAbort.abort();
    this.graphView.panZoom.close();
  }

  private showGraph(graph: Graph, readAt: number): void {
    const isSame = this.problem.hidden && JSON.stringify(graph) === JSON.stringify(this.graph);
    this.graph = graph;
    this.problem.hidden = true;
    this.readAt = readAt;
    this.updateStatus();
    if (isSame) return;
    this.searched.show(graph);
    this.draw();
  }

  private showError(problem: Problem): void {
    if (problem.status === 403) this.clear();
    this.problem.hidden = false;
    setText(
      this.problem,
      `${problem.title}. ${problem.detail}${this.graph === null ? "" : " Showing the previous result."}`,
    );
    if (this.graph === null) this.body.replaceChildren();
  }

  // Removes the graph, because the viewer lost permission.
  private clear(): void {
    this.layoutAbort.abort();
    this.graph = this.requestedObject = null;
    this.searched.clear();
    this.graphView.clear();
    this.body.replaceChildren();
  }

  private updateStatus(): void {
    this.refreshButton.disabled = this.poller.isBusy || this.forbiddenKey !== "";
    this.element.toggleAttribute("data-busy", this.poller.isBusy);
    // The status "Live" in the panel refers to the object only. Show separately when the graph was read.
    const isLoading = this.graph === null && this.problem.hidden && this.forbiddenKey === "";
    setText(
      this.time,
      this.graph !== null
        ? `Snapshot from ${clockTime(new Date(this.readAt).toISOString(), this.host.now())}`
        : isLoading
          ? "Searching…"
          : "",
    );
    this.time.toggleAttribute("data-has-time", this.graph !== null);
    this.time.toggleAttribute("data-old", this.graph !== null && this.host.now() - this.readAt > 2 * refreshInterval);
  }

  private setMode(mode: ViewMode): void {
    this.mode = mode;
    preferences.set("related-as", mode);
    this.updateControls();
    this.draw();
  }

  private updateControls(): void {
    this.graphButton.setAttribute("aria-pressed", String(this.mode === "graph"));
    this.listButton.setAttribute("aria-pressed", String(this.mode === "list"));
    this.zoom.hidden = this.mode === "list";
  }

  private draw(): void {
    const { graph } = this;
    this.layoutAbort.abort();
    if (graph === null) return;
    const inPanel = this.element.closest("#panel") !== null;
    if (graph.nodes.length === 1) this.body.replaceChildren(this.emptyNote(graph));
    else if (this.mode === "list") this.drawList(graph, inPanel);
    else void this.drawGraph(graph, inPanel);
  }

  private emptyNote(graph: Graph): HTMLElement {
    const all = graph.searched.every(wasSearched);
    return h(
      "div",
      { class: "note" },
      h("h2", {}, all ? "No related objects found" : "No related objects found in the searched resource types"),
      h("p", {}, "It has no owners and no references, and no searched object refers to it."),
    );
  }

  private async drawGraph(graph: Graph, inPanel: boolean): Promise<void> {
    const { signal } = (this.layoutAbort = new AbortController());
    if (!this.body.contains(this.graphView.element))
      this.body.replaceChildren(h("p", { class: "note" }, `Laying out ${formatInteger(graph.nodes.length)} objects…`));
    try {
      const { layout } = await import("./layout-worker.ts");
      const layoutResult = await layout(
        {
          ids: graph.nodes.map((n) => n.id),
          links: linksOf(graph).map(({ from, to }) => ({ from, to })),
          width: cardWidth,
          height: cardHeight,
        },
        signal,
      );
      if (signal.aborted) return;
      this.graphView.draw(graph, layoutResult, inPanel);
      if (!this.body.contains(this.graphView.element)) this.body.replaceChildren(this.graphView.element);
      if (RelatedTab.lastOpenedId !== "" && RelatedTab.lastOpenedId === graph.nodes[0]?.id) this.graphView.focus();
      RelatedTab.lastOpenedId = "";
    } catch {
      if (signal.aborted) return;
      this.showError({
        title: "The graph could not be laid out",
        status: 0,
        detail: "The list shows the same objects.",
      });
      this.drawList(graph, inPanel);
    }
  }

  // Draws the list. It keeps the scroll position and the keyboard focus of the previous list.
  private drawList(graph: Graph, inPanel: boolean): void {
    const { body } = this;
    const scrollTop = body.firstElementChild?.scrollTop ?? 0;
    const focused = body.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset["id"]
      : undefined;
    const list = relatedList(graph, inPanel, this.host);
    body.replaceChildren(list);
    list.scrollTop = scrollTop;
    if (focused !== undefined)
      [...list.querySelectorAll<HTMLElement>("[data-id]")]
        .find((e) => e.dataset["id"] === focused)
        ?.focus({ preventScroll: true });
  }
}
