// The label of the namespace button, and the message about namespaces that do not exist.

import { keyOf, type RowSource } from "./row-source.ts";
import { Rows } from "./rows.ts";

/** Returns a label such as "All namespaces", "shop, data" or "5 namespaces". */
export function namespacesLabel(ns: readonly string[]): string {
  if (ns.length === 0) return "All namespaces";
  const names = ns.join(", ");
  return ns.length === 1 || (ns.length <= 3 && names.length <= 26) ? names : `${ns.length} namespaces`;
}

/**
 * Returns a message about the selected namespaces (ns) that do not exist. Returns null if all of them exist, or if
 * that is unknown. The parameter namespaces contains the cluster's namespaces. The parameter when is the time at
 * which they were last current, or null for now. missingNamespacesNote in web/templates/listtext.go is the same in
 * Go.
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
