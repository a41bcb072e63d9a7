// The owners of the object: the path from the root owner to it, as links.

import { under } from "../base.ts";
import { h, written } from "../dom.ts";
import { climb, type Answer, type Step } from "../facts/climb.ts";
import { ownersOf, type Owner } from "../facts/meta.ts";
import { shared } from "../guest.ts";
import type { Host } from "../tabs.ts";
import type { Tree } from "../wire.ts";
import type { Sheet } from "./sheet.ts";

export class OwnersView {
  private readonly list = h("ol");
  private readonly others = h("p", { class: "others" });
  readonly element = h(
    "nav",
    { class: "part owners", "aria-labelledby": "owners" },
    h("h3", { id: "owners" }, "Owners"),
    this.list,
    this.others,
  );
  private drawn = "";
  private gone = new AbortController();
  private failed = false; // whether reading an owner failed for a temporary reason

  constructor(private readonly host: Host, private readonly sheet: Sheet) {}

  /**
   * Shows the owners of an object. They are read again if the owners change, if their resources become known, or if the
   * last attempt failed.
   */
  show(object: Tree): void {
    const owners = ownersOf(object);
    const asked = JSON.stringify(owners.map((o) => [o, this.host.kindOf(o.apiVersion, o.kind)?.ref]));
    this.element.hidden = owners.length === 0;
    if (asked === this.drawn && !this.failed) return;
    this.drawn = asked;
    this.failed = false;
    this.gone.abort();
    const gone = (this.gone = new AbortController());
    this.draw(owners.slice(0, 1).map((owner) => ({ owner, trouble: "" })), owners);
    void climb(object, (owner) => this.read(owner, gone.signal)).then((steps) => {
      if (gone.signal.aborted) return;
      this.draw(steps, owners);
      if (steps.some((s) => this.host.kindOf(s.owner.apiVersion, s.owner.kind) === undefined))
        this.sheet.unresolved = true;
    });
  }

  close(): void {
    this.gone.abort();
  }

  private draw(steps: readonly Step[], owners: readonly Owner[]): void {
    const { kind, name } = this.host;
    const way = [...steps]
      .reverse()
      .map(({ owner, trouble }) =>
        h(
          "li",
          {},
          h("span", { class: "kind" }, owner.kind),
          " ",
          this.link(owner),
          ...(trouble === "" ? [] : [" ", h("em", {}, trouble)]),
        ),
      );
    this.list.replaceChildren(
      ...way,
      h("li", { "aria-current": "true" }, h("span", { class: "kind" }, kind.kind), " ", name.name),
    );
    const others = owners.slice(1, 10);
    this.others.hidden = others.length === 0;
    this.others.replaceChildren(
      "Also owned by ",
      ...others.flatMap((o, i) => [...(i === 0 ? [] : [", "]), ...written(`${o.kind} `), this.link(o)]),
    );
  }

  private link(o: Owner): HTMLElement {
    const href = this.sheet.href({ ...o, ns: this.host.name.ns });
    return href === null ? h("span", {}, o.name) : h("a", { href, "data-address": "" }, o.name);
  }

  private async read(o: Owner, signal: AbortSignal): Promise<Answer> {
    const kind = this.host.kindOf(o.apiVersion, o.kind);
    if (kind === undefined)
      return { trouble: shared() === null ? `${o.apiVersion} is not available` : "not shared with you" };
    const ns = kind.namespaced ? encodeURIComponent(this.host.name.ns) : "_";
    try {
      const answer = await fetch(under(`/api/v1/object/${kind.ref}/${ns}/${encodeURIComponent(o.name)}`), {
        signal,
        headers: { accept: "application/json" },
      });
      if (answer.ok) return { object: (await answer.json()) as unknown };
      if (answer.status === 404) return { trouble: "not found" };
      if (answer.status === 403) return { trouble: "forbidden" };
      this.failed = !signal.aborted;
      return { trouble: `could not be read (${answer.status})` };
    } catch {
      this.failed = !signal.aborted;
      return { trouble: "could not be read" };
    }
  }
}
