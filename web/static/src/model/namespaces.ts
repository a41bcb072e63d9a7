// The label of the namespace button, and the text about namespaces that do not exist.

import { keyOf, type RowSource } from "./row-source.ts";
import { Rows } from "./rows.ts";

/** Returns "All namespaces", "shop, data" or "5 namespaces". */
export function namespacesLabel(ns: readonly string[]): string {
  if (ns.length === 0) return "All namespaces";
  const names = ns.join(", ");
  return ns.length === 1 || (ns.length <= 3 && names.length <= 26) ? names : `${ns.length} namespaces`;
}

/**
 * Describes which of the namespaces ns do not exist. known: the cluster's namespaces. when: when they were last known
 * to be current; null for now. Returns null if all exist, or if that is not known. Same as missingNamespacesNote in
 * listtext.go.
 */
export function missingNamespacesText(
  ns: readonly string[],
  namespaces: RowSource | null,
  when: string | null,
): string | null {
  const missing =
    namespaces instanceof Rows && namespaces.isComplete
      ? ns.filter((n) => namespaces.get(keyOf("", n)) === undefined)
      : [];
  const missingNames = `Namespace${missing.length === 1 ? "" : "s"} ${missing.join(" and ")}`;
  return missing.length === 0
    ? null
    : when === null
      ? `${missingNames} ${missing.length === 1 ? "does" : "do"} not exist.`
      : `${missingNames} did not exist ${when}.`;
}
