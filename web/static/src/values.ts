// Field values as lines of text.

import type { Value } from "./fields.ts";
import type { Tree } from "./wire.ts";
import { yamlLines } from "./yaml/write.ts";

const longest = 2000; // characters; longer lines are cut, but a copied patch is complete

/**
 * Returns the lines of a value, or none if there is no value. A text of several lines is split, and anything else is
 * formatted as YAML.
 */
export function valueLines(v: Value): string[] {
  if (v.is !== "value") return [];
  const lines =
    typeof v.value === "string" && v.value.includes("\n") ? v.value.split("\n") : yamlLines(v.value as Tree);
  return lines.map((l) => (l.length > longest ? `${l.slice(0, longest)}… ${l.length - longest} more characters` : l));
}
