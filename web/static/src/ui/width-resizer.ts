import { preferences } from "./preferences.ts";

const minPanelWidth = 320;
const minTableWidth = 360; // pixels
const keyStep = 24;

/** Lets users resize the part at the right of a separator. The width is in the CSS property --panel-width. */
export function makeWidthResizable(separator: HTMLElement, part: HTMLElement): void {
  const set = (width: number): void => {
    const clamped = Math.round(Math.max(minPanelWidth, Math.min(innerWidth - minTableWidth, width)));
    document.documentElement.style.setProperty("--panel-width", `${clamped}px`);
    preferences.set("panel-width", String(clamped));
  };
  const storedWidth = Number(preferences.get("panel-width"));
  if (storedWidth > 0) set(storedWidth);
  new ResizeObserver(() => {
    separator.setAttribute("aria-valuemin", String(minPanelWidth));
    separator.setAttribute("aria-valuemax", String(Math.max(minPanelWidth, innerWidth - minTableWidth)));
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
    const delta = e.key === "ArrowLeft" ? keyStep : e.key === "ArrowRight" ? -keyStep : 0;
    if (delta === 0) return;
    e.preventDefault();
    set(part.getBoundingClientRect().width + delta);
  });
}
