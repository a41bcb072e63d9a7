// The fields that the compare page leaves out of both objects.

import { identity } from "./noise.ts";
import { isObject } from "./paths.ts";
import type { Tree } from "./wire.ts";

export type Hidden = "identity" | "status";

/**
  * Parses the URL parameter with the fields to leave out. If it is missing (null), they are the fields that identify an
  * object.
 */
export function parseHide(text: string | null): ReadonlySet<Hidden> {
  if (text === null) return new Set<Hidden>(["identity"]);
  const words = text.split(",").map((w) => w.trim());
  return new Set((["identity", "status"] as const).filter((w) => words.includes(w)));
}

/** Formats the URL parameter with the fields to leave out; null for the default. */
export function formatHide(hidden: ReadonlySet<Hidden>): string | null {
  const words = (["identity", "status"] as const).filter((w) => hidden.has(w)).join(",");
  return words === "identity" ? null : words === "" ? "none" : words;
}

/** Returns an object without the hidden fields. */
export function without(object: Tree, hidden: ReadonlySet<Hidden>): Tree {
  const paths = [...(hidden.has("identity") ? identity : []), ...(hidden.has("status") ? [["status"]] : [])];
  return paths.reduce(cut, object);
}

function cut(object: Tree, path: readonly string[]): Tree {
  const [first = "", ...rest] = path;
  if (!Object.hasOwn(object, first)) return object;
  const copy: Record<string, unknown> = { ...object };
  const child = copy[first];
  if (rest.length === 0) delete copy[first];
  else if (isObject(child)) copy[first] = cut(child, rest);
  return copy;
}
