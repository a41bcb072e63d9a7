// Reading objects of any shape: what is not of the type that is asked for is
// taken as not there, and nothing throws.

import type { Tree } from "../wire.ts";

/** What stands at a path, undefined where there is nothing. */
export function at(v: unknown, ...path: readonly string[]): unknown {
  for (const name of path) {
    if (!isTree(v) || !Object.hasOwn(v, name)) return undefined;
    v = v[name];
  }
  return v;
}

export const isTree = (v: unknown): v is Tree => typeof v === "object" && v !== null && !Array.isArray(v);

export const list = (v: unknown): readonly unknown[] => (Array.isArray(v) ? v : []);

/** The objects of a list. */
export const trees = (v: unknown): Tree[] => list(v).filter(isTree);

/** The members of an object. */
export const members = (v: unknown): [string, unknown][] => (isTree(v) ? Object.entries(v) : []);

/** Text; empty where there is none. */
export const text = (v: unknown): string => (typeof v === "string" ? v : "");

/** The texts of a list that are not empty. */
export const texts = (v: unknown): string[] => list(v).map(text).filter((t) => t !== "");

export const isScalar = (v: unknown): v is string | number | bigint | boolean => ["string", "number", "bigint", "boolean"].includes(typeof v);

/** Text, a number or a truth value as text; empty where there is neither. */
export const scalar = (v: unknown): string => (isScalar(v) ? String(v) : "");

/** A number; null where there is none. */
export const number = (v: unknown): number | null => (typeof v === "number" ? v : typeof v === "bigint" ? Number(v) : null);

/** An RFC 3339 time; empty where there is none. */
export const time = (v: unknown): string => (typeof v === "string" && /^\d{4}-\d\d-\d\dT/.test(v) && !Number.isNaN(Date.parse(v)) ? v : "");
