// The progress bar that a list shows while it loads.

import { setAttr } from "../ui/dom.ts";
import { countText, type Status } from "../model/status.ts";

/** Draws the progress bar. It is hidden if a count is unknown, because an empty bar would mean zero. */
export function drawProgress(e: HTMLElement, status: Status, resource: string): void {
  const isKnown = status.count !== null && status.total !== null && status.total > 0;
  e.hidden = !isKnown;
  if (!isKnown) return;
  setAttr(e, "aria-label", `Loading ${resource}`);
  setAttr(e, "aria-valuemax", String(status.total));
  setAttr(e, "aria-valuenow", String(status.count));
  setAttr(e, "aria-valuetext", countText(status));
  e.style.setProperty("--share", `${(100 * (status.count ?? 0)) / (status.total ?? 1)}%`);
}
