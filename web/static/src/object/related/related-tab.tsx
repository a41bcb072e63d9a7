import "../../shared-code.ts";
import type { ComponentChild } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../../net/kinds.ts";
import { clockTime } from "../../text/age.ts";
import { h } from "../../ui/dom.ts";
import { mount, unmount } from "../../ui/view.tsx";
import { formatInteger } from "../../text/format.ts";
import { GraphView } from "./graph-view.ts";
import { chipsId, fold, isChips, isPodsCard, withoutChips } from "./fold.ts";
import { types, type Graph } from "./graph.ts";
import { RelatedList } from "./list.tsx";
import { cardWidth, columnOrder, heightOf, linksOf } from "./graph-layout.ts";
import { refreshInterval, RelatedPoller } from "./poller.ts";
import { emptyText, SearchedDetails } from "./searched.tsx";
import { ExplanationReader } from "../overview/explanation.ts";
import { forbiddenNote, type Note } from "../../model/status.ts";
import { preferences } from "../../ui/preferences.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { Problem, JsonObject } from "../../net/wire.ts";

const liveTitle =
  "Most changes of related objects appear within seconds. Some resource types are searched only every 10 s.";

type ViewMode = "graph" | "list";

export class RelatedTab implements Tab {
  // ID of the node that the user opened with the keyboard. The graph of this node's object then gets the focus.
  private static lastOpenedId = "";
  readonly element = h("div", { class: "related" });
  private readonly graphView: GraphView;
  private readonly poller: RelatedPoller;
  private readonly explanation: ExplanationReader;
  // A text of the server that differs after each change of a related object. Empty if the server reports no changes.
  private related = "";
  private reported = ""; // last nonempty value of `related`, to detect changes
  private layoutAbort = new AbortController();
  private graph: Graph | null = null;
  private readonly openedNodes = new Set<string>();
  private nodesToFocus: readonly string[] = []; // the first of these nodes receives the focus in the next drawing
  private requestedObject: JsonObject | null = null;
  private isDeleted = false;
  private readAt = 0; // ms; time of the last read
  private forbidden: Note | null = null;
  private problem = ""; // reason why the previous request failed; empty if it succeeded
  private isGraphShown = false;
  private isLayoutFailed = false;
  private mode: ViewMode;

  constructor(private readonly host: TabHost) {
    const small = matchMedia("(max-width: 800px)").matches;
    const storedMode = preferences.get("related-as");
    this.mode = storedMode === "graph" || storedMode === "list" ? storedMode : small ? "list" : "graph";
    this.graphView = new GraphView(host);
    this.poller = new RelatedPoller(
      host,
      (graph, at) => this.showGraph(graph, at),
      (problem) => this.showError(problem),
      () => this.render(),
    );
    this.explanation = new ExplanationReader(host, () => this.explanationChanged());
    this.graphView.element.addEventListener("click", (e) => {
      const card = e.target instanceof Element ? e.target.closest<HTMLElement>(".card, .chips") : null;
      const id = card?.dataset["id"] ?? "";
      if (card?.localName === "button") return this.openNode(id);
      RelatedTab.lastOpenedId = e.detail === 0 ? id : "";
    });
    this.render();
  }

  show({ object, isDeleted: gone, info: known }: TabData): void {
    this.isDeleted = gone;
    const forbidden = forbiddenNote(known, plural(this.host.kind));
    if (JSON.stringify(forbidden) !== JSON.stringify(this.forbidden)) {
      this.forbidden = forbidden;
      this.poller.close();
      this.clear();
      this.problem = "";
      this.render();
    }
    if (forbidden !== null) return;
    // For a deleted object, keep the graph without an error, because the panel already shows that the object was
    // deleted.
    if (gone) {
      this.poller.close();
      this.problem = this.graph === null ? "The object was deleted before its related objects were loaded." : "";
      return this.render();
    }
    if (object === null || object === this.requestedObject) return;
    this.requestedObject = object;
    this.poller.request();
  }

  // Requests the graph again if the server reports a change of a related object. The first report describes the state
  // that the first graph already shows, so it does not count as a change.
  private explanationChanged(): void {
    const { related } = this.explanation.explanation;
    const isChange = this.reported !== "" && related !== "" && this.reported !== related;
    this.related = related;
    if (related !== "") this.reported = related;
    if (isChange && this.requestedObject !== null && !this.isDeleted) this.poller.request();
    else this.render();
  }

  tick(): void {
    if (this.requestedObject !== null && !this.isDeleted && document.visibilityState === "visible")
      this.poller.refreshIfOld();
    this.render();
  }

  close(): void {
    this.poller.close();
    this.explanation.close();
    this.layoutAbort.abort();
    this.graphView.panZoom.close();
    unmount(this.element);
  }

  private showGraph(graph: Graph, readAt: number): void {
    const isSame = this.problem === "" && JSON.stringify(graph) === JSON.stringify(this.graph);
    this.problem = "";
    this.readAt = readAt;
    if (isSame) return this.render();
    this.graph = graph;
    this.draw();
  }

  private showError({ status, title, detail }: Problem): void {
    if (status === 403) this.clear();
    this.problem = `${title}. ${detail}${this.graph === null ? "" : " Showing the previous result."}`;
    this.render();
  }

  // Removes the graph, because the viewer lost permission.
  private clear(): void {
    this.layoutAbort.abort();
    this.graph = this.requestedObject = null;
    this.isGraphShown = false;
    this.graphView.clear();
  }

  private setMode(mode: ViewMode): void {
    this.mode = mode;
    preferences.set("related-as", mode);
    this.draw();
  }

  private get inPanel(): boolean {
    return this.element.closest("#panel") !== null;
  }

  private draw(): void {
    this.layoutAbort.abort();
    this.isLayoutFailed = false;
    const isGraph = this.graph !== null && this.graph.nodes.length > 1 && this.mode === "graph";
    if (!isGraph) this.isGraphShown = false;
    this.render();
    if (this.graph !== null && isGraph) void this.drawGraph(fold(this.graph, this.openedNodes));
  }

  private openNode(id: string): void {
    const nodes = this.graph === null ? [] : fold(this.graph, this.openedNodes).nodes;
    const combined = isChips(id) ? nodes.find((n) => chipsId(n) === id)?.chips : nodes.find((n) => n.id === id)?.folded;
    this.nodesToFocus = combined?.map((n) => n.id) ?? [];
    this.openedNodes.add(id);
    this.draw();
  }

  // IDs of the combined cards and chips that the user opened. They are from a graph without opened cards, because only
  // such a graph contains all combined cards.
  private get openedCards(): string[] {
    if (this.graph === null || this.mode === "list" || this.openedNodes.size === 0) return [];
    return fold(this.graph, new Set())
      .nodes.flatMap((n) => [n.id, chipsId(n)])
      .filter((id) => this.openedNodes.has(id));
  }

  private closeNodes(): void {
    this.nodesToFocus = this.openedCards.map(withoutChips);
    this.openedNodes.clear();
    this.draw();
  }

  private async drawGraph(graph: Graph): Promise<void> {
    const { signal } = (this.layoutAbort = new AbortController());
    try {
      const { layout } = await import("./layout-worker.ts");
      const links = linksOf(graph);
      const layoutResult = await layout(
        {
          ids: graph.nodes.map((n) => n.id),
          links: links.map(({ from, to }) => ({ from, to })),
          columnOrder: columnOrder(links),
          heights: graph.nodes.map(heightOf),
          width: cardWidth,
        },
        signal,
      );
      if (signal.aborted) return;
      this.graphView.draw(graph, layoutResult, this.inPanel, this.nodesToFocus);
      this.nodesToFocus = [];
      this.isGraphShown = true;
      this.render();
      if (RelatedTab.lastOpenedId !== "" && RelatedTab.lastOpenedId === graph.nodes[0]?.id) this.graphView.focus();
      RelatedTab.lastOpenedId = "";
    } catch {
      if (signal.aborted) return;
      this.isGraphShown = false;
      this.isLayoutFailed = true;
      this.problem = "The graph could not be drawn. The list shows the same objects.";
      this.render();
    }
  }

  private render(): void {
    const { graph, graphView, poller, problem, mode } = this;
    this.element.toggleAttribute("data-busy", poller.isBusy);
    const openedCards = this.openedCards;
    const isOld = graph !== null && this.host.now() - this.readAt > 2 * refreshInterval;
    mount(
      this.element,
      <>
        <div class="related-bar">
          <span class="switch" role="group" aria-label="Show as">
            <button type="button" aria-pressed={mode === "graph"} onClick={() => this.setMode("graph")}>
              Graph
            </button>
            <button type="button" aria-pressed={mode === "list"} onClick={() => this.setMode("list")}>
              List
            </button>
          </span>
          {openedCards.length > 0 && (
            <button type="button" class="group-again" onClick={() => this.closeNodes()}>
              {openedCards.some(isPodsCard)
                ? "Group pods"
                : openedCards.every(isChips)
                  ? "Group configuration"
                  : "Group old revisions"}
            </button>
          )}
          <span class="spring" />
          <span
            class="related-time"
            data-has-time={graph === null ? undefined : ""}
            data-old={isOld ? "" : undefined}
            data-live={this.isLive ? "" : undefined}
            title={this.isLive ? liveTitle : undefined}
          >
            {this.timeText()}
          </span>
          <IconButton
            sign="↻"
            label="Refresh"
            disabled={poller.isBusy || this.forbidden !== null}
            run={() => poller.request()}
          />
          <span class="zoom" hidden={mode === "list"}>
            <IconButton sign="−" label="Zoom out" run={() => graphView.panZoom.zoom(0.8)} />
            <IconButton sign="+" label="Zoom in" run={() => graphView.panZoom.zoom(1.25)} />
            <button type="button" class="fit" aria-label="Fit" title="Fit" onClick={() => graphView.fit()}>
              Fit
            </button>
          </span>
        </div>
        <p class="banner" role="status" hidden={problem === ""}>
          {problem}
        </p>
        <div class="related-body">{this.content()}</div>
        {graph !== null && <SearchedDetails graph={graph} host={this.host} />}
      </>,
    );
  }

  // Returns the status of the graph. The panel shows another status, such as "Live", which is only about the object.
  private timeText(): string {
    if (this.graph !== null) {
      const at = clockTime(new Date(this.readAt).toISOString(), this.host.now());
      return this.isLive ? `Live, updated ${at}` : `Snapshot from ${at}`;
    }
    return this.poller.isBusy ? "Searching…" : "";
  }

  private get isLive(): boolean {
    return this.related !== "" && !this.isDeleted && this.problem === "" && this.host.live.connection === "open";
  }

  private content(): ComponentChild {
    const { graph, forbidden, host } = this;
    if (forbidden !== null)
      return (
        <div class="note">
          <h2>{forbidden.title}</h2>
          {[forbidden.detail, forbidden.next].map((text) => text !== "" && <p>{text}</p>)}
        </div>
      );
    if (graph === null) return null;
    if (graph.nodes.length === 1) return <EmptyNote text={emptyText(graph, host)} />;
    if (this.mode === "list" || this.isLayoutFailed)
      return <RelatedList graph={graph} inPanel={this.inPanel} ns={host.name.ns} />;
    if (this.isGraphShown) return <GraphPlace view={this.graphView} />;
    return <p class="note">{`Laying out ${formatInteger(graph.nodes.length)} objects…`}</p>;
  }
}

interface IconButtonProps {
  sign: string;
  label: string;
  disabled?: boolean;
  run: () => void;
}

const IconButton = ({ sign, label, disabled = false, run }: IconButtonProps) => (
  <button type="button" class="icon" aria-label={label} title={label} disabled={disabled} onClick={run}>
    {sign}
  </button>
);

const EmptyNote = ({ text }: { text: string }) => (
  <div class="note">
    <h2>No related objects found</h2>
    <p>{`The object has no owners, and refers to no other objects. ${text}`}</p>
  </div>
);

function GraphPlace({ view }: { view: GraphView }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(view.element), [view]);
  return (
    <>
      <div class="graph-place" ref={place} />
      <p class="legend-lines">
        {types.map((type) => (
          <span key={type} data-type={type}>
            {type}
          </span>
        ))}
      </p>
    </>
  );
}
