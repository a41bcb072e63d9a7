import "../../shared-code.ts";
import type { JsonObject } from "../../net/wire.ts";
import type { KindSection } from "../kind-section.ts";
import type { TabHost } from "../tab.ts";
import { NodePods } from "./node-pods.ts";
import { NodePodsView } from "./node-pods-view.tsx";

export class NodeSection implements KindSection {
  private readonly pods: NodePods;

  constructor(
    private readonly host: TabHost,
    onChange: () => void,
  ) {
    this.pods = new NodePods(host, onChange);
  }

  view(object: JsonObject) {
    return <NodePodsView pods={this.pods} node={object} name={this.host.name.name} now={this.host.now()} />;
  }

  reconnected(): void {
    this.pods.reconnected();
  }

  tick(): void {
    this.pods.tick();
  }

  close(): void {
    this.pods.close();
  }
}
