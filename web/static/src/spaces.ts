// What the namespaces that are shown are called on the button that chooses them.

/** "All namespaces", "shop, data", "5 namespaces". */
export function namespaceWords(ns: readonly string[]): string {
  if (ns.length === 0) return "All namespaces";
  const names = ns.join(", ");
  return ns.length === 1 || (ns.length <= 3 && names.length <= 26) ? names : `${ns.length} namespaces`;
}
