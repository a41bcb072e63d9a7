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
    const cut = graph.truncated ? "There are more objects than are shown. " : "";
    this.element.hidden = n === 0 && cut === "";
    this.element.toggleAttribute("data-warn", missed.length > 0 || graph.truncated);
    const words =
      missed.length === 0
        ? `${digits(n)} ${n === 1 ? "kind" : "kinds"} looked through`
        : `${digits(n - missed.length)} of ${digits(n)} kinds looked through; there may be more in the others`;
    setText(this.summary, `${cut}${words}`);
    const name = (s: Searched): HTMLElement => h("span", { class: "kind" }, this.kind(s.ref));
    const through = graph.searched
      .filter(looked)
      .map(
        (s) =>
          `${this.kind(s.ref)}${s.state === "stale" ? " (as they were a while ago)" : ""}` +
            `${s.namespaces.length === 0 ? "" : ` (in ${s.namespaces.join(", ")} alone)`}`,
      );
    this.list.replaceChildren(
      ...missed.map((s) =>
        h("li", { "data-missed": true }, name(s), ` not looked through: ${s.reason === "" ? said(s.state) : s.reason}`),
      ),
      ...(through.length === 0 ? [] : [h("li", {}, `Looked through: ${through.join(", ")}`)]),
    );
  }

  private kind(ref: string): string {
    const kind = this.host.kindOfRef(ref);
    return kind === undefined ? (ref.split("/")[2] ?? ref) : plural(kind);
  }
}

const said = (state: string): string => (state === "syncing" ? "the list had not come in time" : state);

/** Whether a resource was searched. */
export const looked = (s: Searched): boolean => s.state === "live" || s.state === "stale";
