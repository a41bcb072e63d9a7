// What is told in the place of a value that is masked: of a Secret, of what a rule
// names, or of what is not shared.

import { isObject } from "./paths.ts";
import type { Tree } from "./wire.ts";

/** Whether some value in it is masked. */
export function masked(value: unknown): boolean {
  if (typeof value === "string") return /^\(masked(, changed|, change \d+)?\)$/.test(value);
  if (Array.isArray(value)) return value.some(masked);
  return isObject(value) && Object.values(value).some(masked);
}

/** What objects that are compared do not tell, null where it is known of one of them at least. */
export function untold(objects: readonly Tree[]): string | null {
  if (!objects.every(masked)) return null;
  return `${objects.every(isSecret) ? "Values of Secrets are masked" : "Some values are masked"}: they are not compared, only whether each was seen to change.`;
}

const isSecret = (object: Tree): boolean => object["kind"] === "Secret" && object["apiVersion"] === "v1";
