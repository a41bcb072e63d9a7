// Shows which resources were searched, and which were not. A resource that could not be searched is never shown as an
// empty result.

import { digits, h, setText } from "../dom.ts";
import { plural } from "../kinds.ts";
import type { Host } from "../tabs.ts";
import type { Graph, Searched } from "./graph.ts";

export class SearchedView {
  private readonly summary = h("summary");
  private readonly list = h("ul");
  readonly element = h("details", { class: "searched", hidden: true }, this.summary, this.list);

  constructor(private readonly host: Host) {}

  clear(): void {
    this.element.hidden = true;
    this.list.replaceChildren();
  }

  show(graph: Graph): void {
    const missed = graph.searched.filter((s) => !looked(s));
    const n = graph.searched.length;
    const cut = graph.truncated ? "Not all related objects are shown. " : "";
    this.element.hidden = n === 0 && cut === "";
    this.element.toggleAttribute("data-warn", missed.length > 0 || graph.truncated);
    const words =
      missed.length === 0
        ? `Searched ${digits(n)} resource ${n === 1 ? "type" : "types"}`
        : `Searched ${digits(n - missed.length)} of ${digits(n)} resource types; there may be more in the others`;
    setText(this.summary, `${cut}${words}`);
    const name = (s: Searched): HTMLElement => h("span", { class: "kind" }, this.kind(s.ref));
    const through = graph.searched
      .filter(looked)
      .map(
        (s) =>
          `${this.kind(s.ref)}${s.state === "stale" ? " (stale)" : ""}` +
            `${s.namespaces.length === 0 ? "" : ` (only in ${s.namespaces.join(", ")})`}`,
      );
    this.list.replaceChildren(
      ...missed.map((s) =>
        h("li", { "data-missed": true }, name(s), ` not searched: ${s.reason === "" ? said(s.state) : s.reason}`),
      ),
      ...(through.length === 0 ? [] : [h("li", {}, `Searched: ${through.join(", ")}`)]),
    );
  }

  private kind(ref: string): string {
    const kind = this.host.kindOfRef(ref);
    return kind === undefined ? (ref.split("/")[2] ?? ref) : plural(kind);
  }
}

const said = (state: string): string => (state === "syncing" ? "the list did not load in time" : state);

/** Whether a resource was searched. */
export const looked = (s: Searched): boolean => s.state === "live" || s.state === "stale";
