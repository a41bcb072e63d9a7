// Highlights elements that have just changed. All highlights fade in the same few steps, because a fade in every frame
// would keep a busy page drawing all the time.

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const fadeInterval = 250; // milliseconds between two steps
const fadeSteps = 4; // the first one still shows the full color
const stepOfElement = new Map<Element, number>(); // the step of each element
let timer = 0;

/** Highlights an element. */
export function highlight(e: Element): void {
  e.setAttribute("data-changed", "");
  e.removeAttribute("data-fading");
  stepOfElement.set(e, 0);
  if (timer === 0) timer = setInterval(fade, fadeInterval);
}

/** Ends a highlight at once. */
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
    // With reduced motion, the highlight stays for a moment and ends without a fade.
    if (step > 0 && !reduced.matches) e.setAttribute("data-fading", String(step));
  }
  if (stepOfElement.size > 0) return;
  clearInterval(timer);
  timer = 0;
}
