import type { Value } from "../../model/fields.ts";
import type { JsonObject } from "../../net/wire.ts";
import { yamlLines } from "../../yaml/writer.ts";

const maxLineLength = 2000; // characters; longer lines are truncated on the screen

/** Returns the lines of a text, if it has several, or else of the value as YAML. Empty if it is unknown or missing. */
export function valueLines(v: Value): string[] {
  if (v.type !== "value") return [];
  const lines =
    typeof v.value === "string" && v.value.includes("\n") ? v.value.split("\n") : yamlLines(v.value as JsonObject);
  return lines.map((l) =>
    l.length > maxLineLength ? `${l.slice(0, maxLineLength)}… ${l.length - maxLineLength} more characters` : l,
  );
}
