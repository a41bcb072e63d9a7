// What has just changed flashes once, and fades in a few steps, all that flash
// together: a fade of every frame would keep a busy page drawing all the time.

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const every = 250; // ms
const steps = 4; // of which the first still shows all of the colour
const fading = new Map<Element, number>(); // by how many steps
let timer = 0;

/** Marks an element for as long as it flashes. */
export function flash(e: Element): void {
  e.setAttribute("data-changed", "");
  e.removeAttribute("data-fading");
  fading.set(e, 0);
  if (timer === 0) timer = setInterval(fade, every);
}

/** Ends a flash at once. */
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
    // Without motion the mark stands for a moment and goes.
    if (step > 0 && !reduced.matches) e.setAttribute("data-fading", String(step));
  }
  if (fading.size > 0) return;
  clearInterval(timer);
  timer = 0;
}
