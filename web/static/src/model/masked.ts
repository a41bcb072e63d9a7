// Detects values that the server replaced with "(masked)", such as the data of Secrets.

import { isObject } from "./paths.ts";
import type { JsonObject } from "../net/wire.ts";

/** Whether a value is masked, or is a map or list that contains a masked value. */
export function isMasked(value: unknown): boolean {
  if (typeof value === "string") return /^\(masked(, changed|, change \d+)?\)$/.test(value);
  if (Array.isArray(value)) return value.some(isMasked);
  return isObject(value) && Object.values(value).some(isMasked);
}

/** Returns a note about masked values if every object contains some. Otherwise, returns null. */
export function maskedText(objects: readonly JsonObject[]): string | null {
  if (!objects.every(isMasked)) return null;
  return `${
    objects.every(isSecret) ? "Values of Secrets are masked." : "Some values are masked."
  } They are not compared. Only marks of changes, such as “(masked, changed)”, can differ.`;
}

const isSecret = (object: JsonObject): boolean => object["kind"] === "Secret" && object["apiVersion"] === "v1";
