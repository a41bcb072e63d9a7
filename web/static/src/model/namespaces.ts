import { keyOf, type RowSource } from "./row-source.ts";
import { Rows } from "./rows.ts";

export function namespacesLabel(ns: readonly string[]): string {
  if (ns.length === 0) return "All namespaces";
  const names = ns.join(", ");
  return ns.length === 1 || (ns.length <= 3 && names.length <= 26) ? names : `${ns.length} namespaces`;
}

/**
 * Returns a message about selected namespaces that do not exist, or null. missingNamespacesNote in
 * web/templates/listtext.go returns the same text.
 */
export function missingNamespacesText(
  ns: readonly string[],
  namespaces: RowSource | null,
  // When the list of namespaces was last current, such as "at 14:03". null if it is current now.
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
