import type { ComponentChild } from "preact";
import type { JsonObject } from "../net/wire.ts";

/** A section of the overview that only objects of one kind have. Its code loads on demand. */
export interface KindSection {
  view(object: JsonObject): ComponentChild;
  /** Is called when the connection is restored, and also when it is lost. */
  reconnected(): void;
  /** Is called every second. */
  tick(): void;
  close(): void;
}
