// Shows which resources the server has searched for related objects, and which it could not search. A resource that
// could not be searched must not resemble an empty result.

import { h, setText } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { plural } from "../../net/kinds.ts";
import type { TabHost } from "../tab.ts";
import type { Graph, Searched } from "./graph.ts";

export class SearchedView {
  private readonly summary = h("summary");
  private readonly list = h("ul");
  readonly element = h("details", { class: "searched", hidden: true }, this.summary, this.list);

  constructor(private readonly host: TabHost) {}

  clear(): void {
    this.element.hidden = true;
    this.list.replaceChildren();
  }

  show(graph: Graph): void {
    const notSearched = graph.searched.filter((s) => !wasSearched(s));
    const n = graph.searched.length;
    const truncatedNote = graph.truncated ? "Not all related objects are shown. " : "";
    this.element.hidden = n === 0 && truncatedNote === "";
    this.element.toggleAttribute("data-warn", notSearched.length > 0 || graph.truncated);
    const words =
      notSearched.length === 0
        ? `Searched ${formatInteger(n)} resource ${n === 1 ? "type" : "types"}`
        : `Searched ${formatInteger(n - notSearched.length)} of ${formatInteger(n)} resource types; ` +
          "there may be more in the others";
    setText(this.summary, `${truncatedNote}${words}`);
    const name = (s: Searched): HTMLElement => h("span", { class: "kind" }, this.kindLabel(s.ref));
    const searchedNames = graph.searched
      .filter(wasSearched)
      .map(
        (s) =>
          `${this.kindLabel(s.ref)}${s.state === "stale" ? " (stale)" : ""}` +
            `${s.namespaces.length === 0 ? "" : ` (only in ${s.namespaces.join(", ")})`}`,
      );
    this.list.replaceChildren(
      ...notSearched.map((s) =>
        h("li", { "data-missed": true }, name(s), ` not searched: ${s.reason === "" ? stateText(s.state) : s.reason}`),
      ),
      ...(searchedNames.length === 0 ? [] : [h("li", {}, `Searched: ${searchedNames.join(", ")}`)]),
    );
  }

  private kindLabel(ref: string): string {
    const kind = this.host.kindOfRef(ref);
    return kind === undefined ? (ref.split("/")[2] ?? ref) : plural(kind);
  }
}

const stateText = (state: string): string => (state === "syncing" ? "the list did not load in time" : state);

export const wasSearched = (s: Searched): boolean => s.state === "live" || s.state === "stale";
