// What has just changed flashes once.

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** Marks an element for as long as it flashes. */
export function flash(e: Element): void {
  e.setAttribute("data-changed", "");
  const still = reduced.matches;
  const colour = "var(--flash)";
  // Without motion the mark stands for a moment and goes.
  const frames = still ? [{ backgroundColor: colour }, { backgroundColor: colour }] : [{ backgroundColor: colour }, { backgroundColor: "transparent" }];
  const animation = e.animate(frames, { duration: still ? 2000 : 1400, easing: "ease-out" });
  animation.onfinish = () => {
    if (e.getAnimations().length === 0) e.removeAttribute("data-changed");
  };
}
