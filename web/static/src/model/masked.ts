// Detects masked values. The server replaces some values by a text such as "(masked)": values in Secrets, fields that
// a redaction rule names, and fields that a share link does not include.

import { isObject } from "./paths.ts";
import type { JsonObject } from "../net/wire.ts";

/** Reports whether a value is masked or contains a masked value. */
export function isMasked(value: unknown): boolean {
  if (typeof value === "string") return /^\(masked(, changed|, change \d+)?\)$/.test(value);
  if (Array.isArray(value)) return value.some(isMasked);
  return isObject(value) && Object.values(value).some(isMasked);
}

/**
 * Returns a message about masked values for the compare page. Returns null if at least one of the objects contains no
 * masked value.
 */
export function maskedText(objects: readonly JsonObject[]): string | null {
  if (!objects.every(isMasked)) return null;
  return `${
    objects.every(isSecret) ? "Values of Secrets are masked." : "Some values are masked."
  } They are not compared, except for whether a change was observed.`;
}

const isSecret = (object: JsonObject): boolean => object["kind"] === "Secret" && object["apiVersion"] === "v1";
