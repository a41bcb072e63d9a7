import type { ComponentChild } from "preact";
import type { JsonObject } from "../net/wire.ts";

/** A section of the overview that only objects of one kind have. Its code loads on demand. */
export interface KindSection {
  view(object: JsonObject): ComponentChild;
  /** Called when the connection is lost, and when it is restored. */
  reconnected(): void;
  /** Called every second. */
  tick(): void;
  close(): void;
}
