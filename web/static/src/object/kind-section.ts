import type { ComponentChild } from "preact";
import type { JsonObject } from "../net/wire.ts";

/** A section of the overview for only one kind, such as Node. Its code is loaded only for objects of this kind. */
export interface KindSection {
  view(object: JsonObject): ComponentChild;
  /** Called when the connection is lost, and when it is restored. */
  reconnected(): void;
  /** Is called every second. */
  tick(): void;
  close(): void;
}
