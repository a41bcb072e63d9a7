// The section of the overview with objects that the object uses, and that use it: a few of each. They are read only on
// request of the user, because the server must search other resources for them. The Related tab shows all.

import { clockTime } from "../age.ts";
import { digits, h, setText } from "../dom.ts";
import { hrefOf, nameOf, stateOf } from "../related/card.ts";
import { groupsOf, type Graph, type GraphNode } from "../related/graph.ts";
import { Reading } from "../related/reading.ts";
import { looked, SearchedView } from "../related/searched.ts";
import type { Host } from "../tabs.ts";
import { objectHref } from "../view.ts";
import type { Problem } from "../wire.ts";

const most = 8; // the maximum number of objects in a group
const titles = ["Uses", "Used by", "Selects", "Selected by"];

export class UsesView {
  private readonly ask = h("button", { type: "button" }, "Find references");
  private readonly list = h("div", { class: "uses-list" });
  private readonly time = h("span", { class: "related-time" });
  private readonly problem = h("p", { role: "status", "data-tone": "warn" });
  private readonly searched: SearchedView;
  private readonly reading: Reading;
  readonly element: HTMLElement;
  private of = ""; // the uid of the object
  private gone = false;
  private at = 0; // ms, when the shown relations were read
  private shown = "";

  constructor(private readonly host: Host) {
    const { kind, name } = host;
    this.searched = new SearchedView(host);
    this.reading = new Reading(
      host,
      (graph, at) => this.read(graph, at),
      (problem) => this.failed(problem),
      () => this.tell(),
    );
    const all = h("a", { href: objectHref(kind.ref, name, "related") }, "View all in Related");
    // On a plain click, switch to the Related tab within the page instead of loading its URL.
    all.addEventListener("click", (e) => {
      if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
      e.preventDefault();
      document.getElementById("tab-related")?.click();
    });
    this.element = h(
      "section",
      { class: "part uses" },
      h("h3", {}, "References"),
      h("p", { class: "uses-bar" }, this.ask, this.time, all),
      this.problem,
      this.list,
      this.searched.element,
    );
    this.ask.addEventListener("click", () => this.reading.ask());
  }

  /** Sets the object; uid is empty if the viewer may not see it. */
  show(uid: string, gone: boolean): void {
    this.gone = gone;
    // Stop reading if the object was deleted, because it has no newer relations, or if it is another one.
    if (gone || uid !== this.of) {
      this.reading.close();
      setText(this.problem, "");
    }
    if (uid !== this.of) {
      this.of = uid;
      this.forget();
    }
    this.tell();
  }

  /** Updates the text with the time of reading, which needs a date after midnight. */
  tick(): void {
    this.tell();
  }

  close(): void {
    this.reading.close();
  }

  private read(graph: Graph, at: number): void {
    this.at = at;
    setText(this.problem, "");
    this.tell();
    const text = JSON.stringify(graph);
    if (text === this.shown) return;
    this.shown = text;
    this.searched.show(graph);
    const groups = groupsOf(graph).filter((g) => titles.includes(g.title));
    const parts = groups.map(({ title, relations }) =>
      h(
        "div",
        {},
        h("dt", {}, title),
        h(
          "dd",
          {},
          ...relations.slice(0, most).map(({ node }) => this.one(node)),
          ...(relations.length > most
            ? [h("span", { "data-tone": "quiet" }, `and ${digits(relations.length - most)} more`)]
            : []),
        ),
      ),
    );
    const none = graph.searched.every(looked)
      ? "No references found"
      : "No references found in the searched resource types";
    this.list.replaceChildren(parts.length === 0 ? h("p", {}, none) : h("dl", { class: "pairs" }, ...parts));
  }

  private one(node: GraphNode): HTMLElement {
    const href = hrefOf(node, true, "");
    const name = h(href === null ? "span" : "a", { href, "data-address": href === null ? null : true }, nameOf(node));
    const where =
      node.ns !== "" && node.ns !== this.host.name.ns ? [h("span", { class: "where" }, ` in ${node.ns}`)] : [];
    return h(
      "span",
      {},
      h("span", { class: "kind" }, node.kind),
      " ",
      name,
      ...where,
      ...stateOf(node).flatMap((s) => [" ", s]),
    );
  }

  private failed(problem: Problem): void {
    // After permission is lost, the relations must not stay on the screen.
    if (problem.status === 403) this.forget();
    setText(
      this.problem,
      `${problem.title}. ${problem.detail}${this.shown === "" ? "" : " Showing the previous result."}`,
    );
  }

  private forget(): void {
    this.shown = "";
    this.list.replaceChildren();
    this.searched.clear();
  }

  private tell(): void {
    this.ask.hidden = this.gone;
    this.ask.disabled = this.reading.busy;
    setText(this.ask, this.shown === "" ? "Find references" : "Refresh");
    setText(
      this.time,
      this.shown !== ""
        ? `Snapshot from ${clockTime(new Date(this.at).toISOString(), this.host.now())}`
        : this.reading.busy
          ? "Searching…"
          : "",
    );
  }
}
