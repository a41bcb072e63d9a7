import { formatAges } from "../text/age.ts";
import { setText } from "./dom.ts";

export function updateAges(root: Element, now: number): void {
  for (const td of root.querySelectorAll("[data-wire]"))
    setText(td, formatAges(td.getAttribute("data-wire") ?? "", now));
}
