// Names the resource types of refs. The first page does not need it.

import { plural, type Kind } from "./kinds.ts";

/** Returns the plural for a resource ref. If `kinds` does not contain the resource, returns its plain name. */
export function pluralOf(ref: string, kinds: readonly Kind[]): string {
  const kind = kinds.find((k) => k.ref === ref);
  return kind === undefined ? (ref.split("/")[2] ?? ref) : plural(kind);
}
