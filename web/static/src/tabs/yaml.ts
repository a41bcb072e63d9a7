// The object as YAML, live.

import type { Host, Shown, Tab } from "../tabs.ts";
import type { Tree } from "../wire.ts";
import { YamlView } from "../yaml.ts";

export class YamlTab implements Tab {
  private readonly view = new YamlView();
  readonly element = this.view.element;
  private drawn: Tree | null = null;

  constructor(_host: Host) {}

  show({ object }: Shown): void {
    if (object === this.drawn) return;
    if (object === null) this.element.replaceChildren();
    else this.view.show(object, this.drawn !== null);
    this.drawn = object;
  }

  close(): void {}
}
