// The separator between two parts of the page. It changes the width of one part by pointer and by the arrow keys. The
// width is stored.

import { habits } from "./stored.ts";

const least = 320;
const room = 360; // the minimum width of the other part
const step = 24;

/** Makes a separator set the width of the part at its right, as the property --panel-width of the root element. */
export function splits(separator: HTMLElement, part: HTMLElement): void {
  const set = (width: number): void => {
    const to = Math.round(Math.max(least, Math.min(innerWidth - room, width)));
    document.documentElement.style.setProperty("--panel-width", `${to}px`);
    habits.set("panel-width", String(to));
  };
  const before = Number(habits.get("panel-width"));
  if (before > 0) set(before);
  new ResizeObserver(() => {
    separator.setAttribute("aria-valuemin", String(least));
    separator.setAttribute("aria-valuemax", String(Math.max(least, innerWidth - room)));
    separator.setAttribute("aria-valuenow", String(Math.round(part.offsetWidth)));
  }).observe(part);
  separator.addEventListener("pointerdown", (e) => {
    e.preventDefault();
    separator.setPointerCapture(e.pointerId);
  });
  separator.addEventListener("pointermove", (e) => {
    if (separator.hasPointerCapture(e.pointerId)) set(part.getBoundingClientRect().right - e.clientX);
  });
  separator.addEventListener("keydown", (e) => {
    const by = e.key === "ArrowLeft" ? step : e.key === "ArrowRight" ? -step : 0;
    if (by === 0) return;
    e.preventDefault();
    set(part.getBoundingClientRect().width + by);
  });
}
