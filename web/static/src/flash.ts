// Highlights elements that have just changed. All highlights fade in the same few steps, because a fade in every frame
// would keep a busy page drawing all the time.

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const every = 250; // ms
const steps = 4; // the first one still shows the full color
const fading = new Map<Element, number>(); // the step of each element
let timer = 0;

/** Highlights an element. */
export function flash(e: Element): void {
  e.setAttribute("data-changed", "");
  e.removeAttribute("data-fading");
  fading.set(e, 0);
  if (timer === 0) timer = setInterval(fade, every);
}

/** Ends a highlight at once. */
export function unflash(e: Element): void {
  fading.delete(e);
  e.removeAttribute("data-changed");
  e.removeAttribute("data-fading");
}

function fade(): void {
  for (const [e, step] of fading) {
    if (step + 1 === steps) {
      unflash(e);
      continue;
    }
    fading.set(e, step + 1);
    // With reduced motion, the highlight stays for a moment and ends without a fade.
    if (step > 0 && !reduced.matches) e.setAttribute("data-fading", String(step));
  }
  if (fading.size > 0) return;
  clearInterval(timer);
  timer = 0;
}
