import { identityFields } from "../model/volatile-fields.ts";
import { isObject } from "../model/paths.ts";
import type { JsonObject } from "../net/wire.ts";

export type IgnoredFields = "identity" | "status";

/** Parses the URL parameter for ignored fields. Without it (null), identity fields such as the UID are ignored. */
export function parseIgnored(text: string | null): ReadonlySet<IgnoredFields> {
  if (text === null) return new Set<IgnoredFields>(["identity"]);
  const words = text.split(",").map((w) => w.trim());
  return new Set((["identity", "status"] as const).filter((w) => words.includes(w)));
}

/** Returns the URL parameter for ignored fields, or null for the default, which needs no parameter. */
export function formatIgnored(ignored: ReadonlySet<IgnoredFields>): string | null {
  const words = (["identity", "status"] as const).filter((w) => ignored.has(w)).join(",");
  return words === "identity" ? null : words === "" ? "none" : words;
}

export function withoutFields(object: JsonObject, ignored: ReadonlySet<IgnoredFields>): JsonObject {
  const paths = [...(ignored.has("identity") ? identityFields : []), ...(ignored.has("status") ? [["status"]] : [])];
  return paths.reduce(removePath, object);
}

function removePath(object: JsonObject, path: readonly string[]): JsonObject {
  const [first = "", ...rest] = path;
  if (!Object.hasOwn(object, first)) return object;
  const copy: Record<string, unknown> = { ...object };
  const child = copy[first];
  if (rest.length === 0) delete copy[first];
  else if (isObject(child)) copy[first] = removePath(child, rest);
  return copy;
}
