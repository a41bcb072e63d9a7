// Reads fields from objects of any shape. A value of an unexpected type counts as missing; no function throws.

import { text } from "../../net/text.ts";
import type { JsonObject } from "../../net/wire.ts";

export { text };

export function valueAt(v: unknown, ...path: readonly string[]): unknown {
  for (const name of path) {
    if (!isTree(v) || !Object.hasOwn(v, name)) return undefined;
    v = v[name];
  }
  return v;
}

export const isTree = (v: unknown): v is JsonObject => typeof v === "object" && v !== null && !Array.isArray(v);

export const list = (v: unknown): readonly unknown[] => (Array.isArray(v) ? v : []);

/** Returns the elements of a list that are JSON objects. */
export const trees = (v: unknown): JsonObject[] => list(v).filter(isTree);

export const members = (v: unknown): [string, unknown][] => (isTree(v) ? Object.entries(v) : []);

/** Returns the elements of a list that are nonempty strings. */
export const texts = (v: unknown): string[] =>
  list(v)
    .map(text)
    .filter((t) => t !== "");

export const isScalar = (v: unknown): v is string | number | bigint | boolean =>
  ["string", "number", "bigint", "boolean"].includes(typeof v);

/** Returns the value as text, or "" if it is not a string, number or boolean. */
export const scalar = (v: unknown): string => (isScalar(v) ? String(v) : "");

export const number = (v: unknown): number | null =>
  typeof v === "number" ? v : typeof v === "bigint" ? Number(v) : null;

/** Returns the value if it is an RFC 3339 time, otherwise "". */
export const time = (v: unknown): string =>
  typeof v === "string" && /^\d{4}-\d\d-\d\dT/.test(v) && !Number.isNaN(Date.parse(v)) ? v : "";
