// A section that only objects of one kind have. Its code loads on demand.

import type { ComponentChild } from "preact";
import { sharedParts } from "../../model/guest.ts";
import type { JsonObject } from "../../net/wire.ts";
import type { TabHost } from "../tab.ts";

export interface KindSection {
  view(object: JsonObject): ComponentChild;
  /** Called when the connection is lost, and when it is restored. */
  reconnected(): void;
  /** Called every second. */
  tick(): void;
  close(): void;
}

/** Returns null for kinds without such a section. */
export async function loadKindSection(host: TabHost, onChange: () => void): Promise<KindSection | null> {
  // A guest possibly sees only some pods, so the sums would be wrong.
  if (host.kind.ref !== "core/v1/nodes" || sharedParts() !== null) return null;
  const { NodeSection } = await import("../node/node-section.tsx");
  return new NodeSection(host, onChange);
}
