// Supports the selectors that the page uses: tag, #id, .class, [attribute], [attribute=value], :not() and
// :popover-open, combined without a space or as descendants.
import type { Part } from "./fake-page.ts";

export const matchesSelector = (e: Part, selector: string): boolean =>
  selector.split(",").some((one) => matchesAll(e, one.trim().split(/\s+/)));

function matchesAll(e: Part, parts: readonly string[]): boolean {
  const last = parts[parts.length - 1] ?? "";
  const rest = parts.slice(0, -1);
  if (!matchesOne(e, last)) return false;
  if (rest.length === 0) return true;
  for (let at = e.parentNode; at !== null; at = at.parentNode) if (matchesAll(at, rest)) return true;
  return false;
}

function matchesOne(e: Part, selector: string): boolean {
  const found = selector.match(/^\*|^[\w-]+|#[\w-]+|\.[\w-]+|\[[^\]]+\]|:not\([^)]+\)|:[\w-]+/g) ?? [];
  return found.every((one) => {
    if (one === "*") return true;
    if (one.startsWith("#")) return e.id === one.slice(1);
    if (one.startsWith(".")) return e.classes.includes(one.slice(1));
    if (one.startsWith(":not(")) return !matchesOne(e, one.slice(5, -1));
    if (one === ":popover-open") return e.open && e.hasAttribute("popover");
    if (!one.startsWith("[")) return e.localName === one;
    const [name = "", value] = one.slice(1, -1).replaceAll('"', "").split("=");
    if (name === "open") return e.open;
    return value === undefined ? e.hasAttribute(name) : e.getAttribute(name) === value;
  });
}
