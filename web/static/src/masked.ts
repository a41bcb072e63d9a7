// What a Secret tells instead of its values.

import { isObject } from "./paths.ts";
import type { Tree } from "./wire.ts";

/** Whether an object holds a value that is masked where those of Secrets are. */
export function masked(object: Tree): boolean {
  return object["kind"] === "Secret" && object["apiVersion"] === "v1" && ["data", "stringData"].some((key) => {
    const values = object[key];
    return isObject(values) && Object.values(values).some((v) => typeof v === "string" && /^\(masked(, change \d+)?\)$/.test(v));
  });
}
