// The label of the namespace button, and the text about namespaces that do not exist.

import { keyOf, type Ordered } from "./ordered.ts";
import { Rows } from "./rows.ts";

/** Returns "All namespaces", "shop, data" or "5 namespaces". */
export function namespaceWords(ns: readonly string[]): string {
  if (ns.length === 0) return "All namespaces";
  const names = ns.join(", ");
  return ns.length === 1 || (ns.length <= 3 && names.length <= 26) ? names : `${ns.length} namespaces`;
}

/**
  * Describes which of the namespaces ns do not exist. known: the cluster's namespaces. when: when they were last known
  * to be current; null for now. Returns null if all exist, or if that is not known. Same as missing in words.go.
 */
export function missingWords(ns: readonly string[], known: Ordered | null, when: string | null): string | null {
  const missing =
    known instanceof Rows && known.complete ? ns.filter((n) => known.get(keyOf("", n)) === undefined) : [];
  const which = `Namespace${missing.length === 1 ? "" : "s"} ${missing.join(" and ")}`;
  return missing.length === 0
    ? null
    : when === null
      ? `${which} ${missing.length === 1 ? "does" : "do"} not exist.`
      : `${which} did not exist ${when}.`;
}
