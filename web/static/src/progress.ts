// How far a list has come: a line that fills, where it is known how long it is.

import { setAttr } from "./dom.ts";
import { countWords, type Status } from "./status.ts";

/** Draws it; there is none where the count, or of how many, is not known: unknown is not zero. */
export function drawProgress(e: HTMLElement, s: Status, resource: string): void {
  const known = s.count !== null && s.total !== null && s.total > 0;
  e.hidden = !known;
  if (!known) return;
  setAttr(e, "aria-label", `Reading ${resource}`);
  setAttr(e, "aria-valuemax", String(s.total));
  setAttr(e, "aria-valuenow", String(s.count));
  setAttr(e, "aria-valuetext", countWords(s));
  e.style.setProperty("--share", `${(100 * (s.count ?? 0)) / (s.total ?? 1)}%`);
}
