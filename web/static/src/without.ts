// What is left out of objects that are compared.

import { identity } from "./noise.ts";
import { isObject } from "./paths.ts";
import type { Tree } from "./wire.ts";

export type Hidden = "identity" | "status";

/** What an address leaves out: what tells an object from its likeness, where it names nothing. */
export function parseHide(text: string | null): ReadonlySet<Hidden> {
  if (text === null) return new Set<Hidden>(["identity"]);
  const words = text.split(",").map((w) => w.trim());
  return new Set((["identity", "status"] as const).filter((w) => words.includes(w)));
}

/** The same for an address; null where it need not be said. */
export function formatHide(hidden: ReadonlySet<Hidden>): string | null {
  const words = (["identity", "status"] as const).filter((w) => hidden.has(w)).join(",");
  return words === "identity" ? null : words === "" ? "none" : words;
}

/** An object without what is hidden. */
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
