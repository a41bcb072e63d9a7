// Functions to read objects of any shape. They never throw. A value of another type than the requested one counts as
// absent.

import type { JsonObject } from "../../net/wire.ts";

/** Returns the value at a path, undefined if there is none. */
export function valueAt(v: unknown, ...path: readonly string[]): unknown {
  for (const name of path) {
    if (!isTree(v) || !Object.hasOwn(v, name)) return undefined;
    v = v[name];
  }
  return v;
}

export const isTree = (v: unknown): v is JsonObject => typeof v === "object" && v !== null && !Array.isArray(v);

export const list = (v: unknown): readonly unknown[] => (Array.isArray(v) ? v : []);

/** Returns the elements of a list that are objects. */
export const trees = (v: unknown): JsonObject[] => list(v).filter(isTree);

/** Returns the members of an object. */
export const members = (v: unknown): [string, unknown][] => (isTree(v) ? Object.entries(v) : []);

/** Returns a string; empty if the value is not one. */
export const text = (v: unknown): string => (typeof v === "string" ? v : "");

/** Returns the nonempty strings of a list. */
export const texts = (v: unknown): string[] => list(v).map(text).filter((t) => t !== "");

export const isScalar = (v: unknown): v is string | number | bigint | boolean =>
  ["string", "number", "bigint", "boolean"].includes(typeof v);

/** Returns a string, number or boolean as text; empty for other values. */
export const scalar = (v: unknown): string => (isScalar(v) ? String(v) : "");

/** Returns a number; null if the value is not one. */
export const number = (v: unknown): number | null =>
  (typeof v === "number" ? v : typeof v === "bigint" ? Number(v) : null);

/** Returns an RFC 3339 time; empty if the value is not one. */
export const time = (v: unknown): string =>
  (typeof v === "string" && /^\d{4}-\d\d-\d\dT/.test(v) && !Number.isNaN(Date.parse(v)) ? v : "");
