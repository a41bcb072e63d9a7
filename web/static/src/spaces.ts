// What the namespaces that are shown are called on the button that chooses them,
// and what is said of those that are not there.

import { keyOf, type Ordered } from "./ordered.ts";
import { Rows } from "./rows.ts";

/** "All namespaces", "shop, data", "5 namespaces". */
export function namespaceWords(ns: readonly string[]): string {
  if (ns.length === 0) return "All namespaces";
  const names = ns.join(", ");
  return ns.length === 1 || (ns.length <= 3 && names.length <= 26) ? names : `${ns.length} namespaces`;
}

/** Says which of the namespaces the cluster does not have, or did not have when they were last known; null where it has all, or where that never was. As missing in words.go. */
export function missingWords(ns: readonly string[], known: Ordered | null, when: string | null): string | null {
  const missing = known instanceof Rows && known.complete ? ns.filter((n) => known.get(keyOf("", n)) === undefined) : [];
  const which = missing.join(" or ");
  return which === "" ? null : when === null ? `There is no namespace ${which}.` : `There was no namespace ${which} ${when}.`;
}
