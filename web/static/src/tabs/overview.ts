// What matters of an object, at a glance.

import { ages } from "../age.ts";
import { h } from "../dom.ts";
import { tick } from "../row.ts";
import type { Host, Shown, Tab } from "../tabs.ts";
import type { Tree } from "../wire.ts";

export class Overview implements Tab {
  readonly element = h("div", { class: "overview", tabindex: "0" });
  private drawn: Tree | null = null;

  constructor(private readonly host: Host) {}

  show({ object }: Shown): void {
    if (object === this.drawn) return;
    this.drawn = object;
    if (object === null) return this.element.replaceChildren();
    const metadata = (object["metadata"] ?? {}) as Tree;
    const facts = h("dl", { class: "facts" });
    const fact = (name: string, value: unknown): void => {
      if (typeof value !== "string" || value === "") return;
      const text = ages(value, this.host.now());
      facts.append(h("div", {}, h("dt", {}, name), h("dd", text === value ? {} : { "data-wire": value, title: value }, text)));
    };
    fact("Name", metadata["name"]);
    fact("Namespace", metadata["namespace"]);
    fact("Created", metadata["creationTimestamp"]);
    fact("UID", metadata["uid"]);
    this.element.replaceChildren(facts);
  }

  tick(): void {
    tick(this.element, this.host.now());
  }

  close(): void {}
}
