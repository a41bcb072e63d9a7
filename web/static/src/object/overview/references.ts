// The overview section with some objects that refer to this object, or that it refers to. They are searched only when
// the user requests it, because the server must search other resources. The Related tab shows all of them.

import { clockTime } from "../../text/age.ts";
import { h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { nodeHref, nodeLabel, stateElements } from "../related/card.ts";
import { groupsOf, type Graph, type GraphNode } from "../related/graph.ts";
import { RelatedPoller } from "../related/poller.ts";
import { wasSearched, SearchedView } from "../related/searched.ts";
import type { TabHost } from "../tab.ts";
import { objectHref } from "../../model/view.ts";
import type { Problem } from "../../net/wire.ts";

const maxPerGroup = 8; // maximum number of objects in one group
const groupTitles = ["Uses", "Used by", "Selects", "Selected by"];

export class ReferencesView {
  private readonly loadButton = h("button", { type: "button" }, "Find references");
  private readonly list = h("div", { class: "uses-list" });
  private readonly time = h("span", { class: "related-time" });
  private readonly problem = h("p", { role: "status", "data-tone": "warn" });
  private readonly searched: SearchedView;
  private readonly poller: RelatedPoller;
  readonly element: HTMLElement;
  private objectUid = ""; // the uid of the object that the section shows
  private isDeleted = false;
  private readAt = 0; // time in ms at which the shown references were read
  private drawnJson = "";

  constructor(private readonly host: TabHost) {
    const { kind, name } = host;
    this.searched = new SearchedView(host);
    this.poller = new RelatedPoller(
      host,
      (graph, at) => this.read(graph, at),
      (problem) => this.failed(problem),
      () => this.updateStatus(),
    );
    const all = h("a", { href: objectHref(kind.ref, name, "related") }, "View all in Related");
    // On a plain click, switch to the Related tab without loading a page.
    all.addEventListener("click", (e) => {
      if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
      e.preventDefault();
      document.getElementById("tab-related")?.click();
    });
    this.element = h(
      "section",
      { class: "part uses" },
      h("h3", {}, "References"),
      h("p", { class: "uses-bar" }, this.loadButton, this.time, all),
      this.problem,
      this.list,
      this.searched.element,
    );
    this.loadButton.addEventListener("click", () => this.poller.request());
  }

  /** Sets the object. uid is empty if the viewer is not permitted to see the object. */
  show(uid: string, isDeleted: boolean): void {
    this.isDeleted = isDeleted;
    // Stop reading references if the object was deleted, or if another object is shown.
    if (isDeleted || uid !== this.objectUid) {
      this.poller.close();
      setText(this.problem, "");
    }
    if (uid !== this.objectUid) {
      this.objectUid = uid;
      this.clear();
    }
    this.updateStatus();
  }

  /** Updates the displayed reading time. After midnight, that text includes the date. */
  tick(): void {
    this.updateStatus();
  }

  close(): void {
    this.poller.close();
  }

  private read(graph: Graph, readAt: number): void {
    this.readAt = readAt;
    setText(this.problem, "");
    this.updateStatus();
    const text = JSON.stringify(graph);
    if (text === this.drawnJson) return;
    this.drawnJson = text;
    this.searched.show(graph);
    const groups = groupsOf(graph).filter((g) => groupTitles.includes(g.title));
    const parts = groups.map(({ title, relations }) =>
      h(
        "div",
        {},
        h("dt", {}, title),
        h(
          "dd",
          {},
          ...relations.slice(0, maxPerGroup).map(({ node }) => this.nodeElement(node)),
          ...(relations.length > maxPerGroup
            ? [h("span", { "data-tone": "quiet" }, `and ${formatInteger(relations.length - maxPerGroup)} more`)]
            : []),
        ),
      ),
    );
    const emptyText = graph.searched.every(wasSearched)
      ? "No references found"
      : "No references found in the searched resource types";
    this.list.replaceChildren(parts.length === 0 ? h("p", {}, emptyText) : h("dl", { class: "pairs" }, ...parts));
  }

  private nodeElement(node: GraphNode): HTMLElement {
    const href = nodeHref(node, true, "");
    const name = h(
      href === null ? "span" : "a",
      { href, "data-address": href === null ? null : true },
      nodeLabel(node),
    );
    const namespaceSpan =
      node.ns !== "" && node.ns !== this.host.name.ns ? [h("span", { class: "where" }, ` in ${node.ns}`)] : [];
    return h(
      "span",
      {},
      h("span", { class: "kind" }, node.kind),
      " ",
      name,
      ...namespaceSpan,
      ...stateElements(node).flatMap((s) => [" ", s]),
    );
  }

  private failed(problem: Problem): void {
    // If the viewer lost permission, the references must not stay on the screen.
    if (problem.status === 403) this.clear();
    setText(
      this.problem,
      `${problem.title}. ${problem.detail}${this.drawnJson === "" ? "" : " Showing the previous result."}`,
    );
  }

  private clear(): void {
    this.drawnJson = "";
    this.list.replaceChildren();
    this.searched.clear();
  }

  private updateStatus(): void {
    this.loadButton.hidden = this.isDeleted;
    this.loadButton.disabled = this.poller.isBusy;
    setText(this.loadButton, this.drawnJson === "" ? "Find references" : "Refresh");
    setText(
      this.time,
      this.drawnJson !== ""
        ? `Snapshot from ${clockTime(new Date(this.readAt).toISOString(), this.host.now())}`
        : this.poller.isBusy
          ? "Searching…"
          : "",
    );
  }
}
