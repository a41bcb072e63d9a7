import type { ShownStep } from "../../activity/timeline.ts";
import { jsonEqual, type Value } from "../../model/fields.ts";

const maxChanges = 3;
const maxValueLength = 24; // characters; a change from or to a longer value is omitted

/**
 * Combines the changes of several updates. The updates in the parameter `updates` are sorted, newest first. Returns a
 * text for each changed field, such as "readyReplicas 6 → 7".
 */
export function netChanges(updates: readonly ShownStep[]): string[] {
  const changes = new Map<string, { before: Value; after: Value }>();
  for (const { fields } of [...updates].reverse())
    for (const { pathText, before, after, isVolatile } of fields)
      if (!isVolatile) changes.set(pathText, { before: changes.get(pathText)?.before ?? before, after });
  const texts = [...changes].flatMap(([path, { before, after }]) => {
    const [old, next] = [shortText(before), shortText(after)];
    const isEqual = before.type === "value" && after.type === "value" && jsonEqual(before.value, after.value);
    const isAbsent = before.type === "none" && after.type === "none";
    return old === null || next === null || isEqual || isAbsent
      ? []
      : [`${path.replace(/^status\./, "")} ${old} → ${next}`];
  });
  return texts.length <= maxChanges ? texts : [...texts.slice(0, maxChanges), `${texts.length - maxChanges} more`];
}

// Returns a value as text. Returns null if the value is unknown, long or not a scalar.
function shortText(v: Value): string | null {
  if (v.type === "none") return "none";
  if (v.type === "unknown" || typeof v.value === "object") return null;
  const text = String(v.value);
  return text.length > maxValueLength || text.includes("\n") ? null : text;
}
