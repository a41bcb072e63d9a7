// The progress bar of a list. It is shown only if the total is known.

import { setAttr } from "./dom.ts";
import { countWords, type Status } from "./status.ts";

/** Draws the bar, or hides it if the count or the total is not known: unknown is not zero. */
export function drawProgress(e: HTMLElement, s: Status, resource: string): void {
  const known = s.count !== null && s.total !== null && s.total > 0;
  e.hidden = !known;
  if (!known) return;
  setAttr(e, "aria-label", `Loading ${resource}`);
  setAttr(e, "aria-valuemax", String(s.total));
  setAttr(e, "aria-valuenow", String(s.count));
  setAttr(e, "aria-valuetext", countWords(s));
  e.style.setProperty("--share", `${(100 * (s.count ?? 0)) / (s.total ?? 1)}%`);
}
