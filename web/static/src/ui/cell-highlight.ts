// A highlight loses its color in a few steps, which are at the same times for all cells. If each cell faded smoothly,
// the browser would redraw a busy page all the time.

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const fadeInterval = 250; // ms between two steps of a highlight
const fadeSteps = 4; // number of steps; in the first one, the highlight still has its full color
const stepOfElement = new Map<Element, number>();
let timer = 0;

export function highlight(e: Element): void {
  e.setAttribute("data-changed", "");
  e.removeAttribute("data-fading");
  stepOfElement.set(e, 0);
  if (timer === 0) timer = setInterval(fade, fadeInterval);
}

export function endHighlight(e: Element): void {
  stepOfElement.delete(e);
  e.removeAttribute("data-changed");
  e.removeAttribute("data-fading");
}

function fade(): void {
  for (const [e, step] of stepOfElement) {
    if (step + 1 === fadeSteps) {
      endHighlight(e);
      continue;
    }
    stepOfElement.set(e, step + 1);
    // If the user prefers reduced motion, do not fade: the highlight keeps its full color until it ends.
    if (step > 0 && !reduced.matches) e.setAttribute("data-fading", String(step));
  }
  if (stepOfElement.size > 0) return;
  clearInterval(timer);
  timer = 0;
}
