import type { Value } from "../../model/fields.ts";
import type { JsonObject } from "../../net/wire.ts";
import { yamlLines } from "../../yaml/writer.ts";

const maxLineLength = 2000; // characters; longer lines are truncated on the screen

/**
 * Returns the lines of a text that has several lines, or the YAML lines of any other value. Empty if the value is
 * unknown or missing.
 */
export function valueLines(v: Value): string[] {
  if (v.type !== "value") return [];
  const lines =
    typeof v.value === "string" && v.value.includes("\n") ? v.value.split("\n") : yamlLines(v.value as JsonObject);
  return lines.map((l) =>
    l.length > maxLineLength ? `${l.slice(0, maxLineLength)}… ${l.length - maxLineLength} more characters` : l,
  );
}
