// Shows the owners of an object as links, from the root owner to the object.

import { withBase } from "../../net/base-path.ts";
import { h, textNodes } from "../../ui/dom.ts";
import { ownerChain, type OwnerResult, type OwnerStep } from "../facts/owner-chain.ts";
import { ownersOf, type Owner } from "../facts/meta.ts";
import { sharedParts } from "../../model/guest.ts";
import type { TabHost } from "../tab.ts";
import type { JsonObject } from "../../net/wire.ts";
import type { FactView } from "./fact-view.ts";

export class OwnersView {
  private readonly list = h("ol");
  private readonly otherOwners = h("p", { class: "others" });
  readonly element = h(
    "nav",
    { class: "part owners", "aria-labelledby": "owners" },
    h("h3", { id: "owners" }, "Owners"),
    this.list,
    this.otherOwners,
  );
  private drawnKey = "";
  private pendingRead = new AbortController();
  private readFailed = false; // whether an owner could not be read for a temporary reason

  constructor(private readonly host: TabHost, private readonly factView: FactView) {}

  /**
   * Shows the owners of an object. They are read again if the owners have changed, if their resources become known,
   * or if the last attempt failed.
   */
  show(object: JsonObject): void {
    const owners = ownersOf(object);
    const ownersKey = JSON.stringify(owners.map((o) => [o, this.host.kindOf(o.apiVersion, o.kind)?.ref]));
    this.element.hidden = owners.length === 0;
    if (ownersKey === this.drawnKey && !this.readFailed) return;
    this.drawnKey = ownersKey;
    this.readFailed = false;
    this.pendingRead.abort();
    const pendingRead = (this.pendingRead = new AbortController());
    this.draw(owners.slice(0, 1).map((owner) => ({ owner, error: "" })), owners);
    void ownerChain(object, (owner) => this.readOwner(owner, pendingRead.signal)).then((steps) => {
      if (pendingRead.signal.aborted) return;
      this.draw(steps, owners);
      if (steps.some((s) => this.host.kindOf(s.owner.apiVersion, s.owner.kind) === undefined))
        this.factView.hasUnresolvedLinks = true;
    });
  }

  close(): void {
    this.pendingRead.abort();
  }

  private draw(steps: readonly OwnerStep[], owners: readonly Owner[]): void {
    const { kind, name } = this.host;
    const items = [...steps]
      .reverse()
      .map(({ owner, error: trouble }) =>
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
      ...items,
      h("li", { "aria-current": "true" }, h("span", { class: "kind" }, kind.kind), " ", name.name),
    );
    const otherOwners = owners.slice(1, 10);
    this.otherOwners.hidden = otherOwners.length === 0;
    this.otherOwners.replaceChildren(
      "Also owned by ",
      ...otherOwners.flatMap((o, i) => [...(i === 0 ? [] : [", "]), ...textNodes(`${o.kind} `), this.link(o)]),
    );
  }

  private link(o: Owner): HTMLElement {
    const href = this.factView.href({ ...o, ns: this.host.name.ns });
    return href === null ? h("span", {}, o.name) : h("a", { href, "data-address": "" }, o.name);
  }

  private async readOwner(o: Owner, signal: AbortSignal): Promise<OwnerResult> {
    const kind = this.host.kindOf(o.apiVersion, o.kind);
    if (kind === undefined)
      return { trouble: sharedParts() === null ? `${o.apiVersion} is not available` : "not shared with you" };
    const ns = kind.namespaced ? encodeURIComponent(this.host.name.ns) : "_";
    try {
      const response = await fetch(withBase(`/api/v1/object/${kind.ref}/${ns}/${encodeURIComponent(o.name)}`), {
        signal,
        headers: { accept: "application/json" },
      });
      if (response.ok) return { object: (await response.json()) as unknown };
      if (response.status === 404) return { trouble: "not found" };
      if (response.status === 403) return { trouble: "forbidden" };
      this.readFailed = !signal.aborted;
      return { trouble: `could not be read (${response.status})` };
    } catch {
      this.readFailed = !signal.aborted;
      return { trouble: "could not be read" };
    }
  }
}
