// The scroll position of a list. It is stored in the history entry, so that back and forward show the same rows again.
// It is not part of the URL, so that someone who opens a copied URL starts at the top.

// Ms without scrolling, after which the position is stored; browsers reject scripts that write the history too often.
const pause = 150;

/** Returns the position in the current history entry, in rows from the top; null if it has none. */
export function placeOf(state: unknown): number | null {
  const place = typeof state === "object" && state !== null ? (state as { place?: unknown }).place : null;
  return typeof place === "number" && place >= 0 ? place : null;
}

/**
 * Stores the scroll position in the current history entry while the list is scrolled. now returns the current position.
 */
export class Place {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(scroller: HTMLElement, private readonly now: () => number) {
    // Disable the browser's own restoration, because its scrolling could not be distinguished from the user's.
    history.scrollRestoration = "manual";
    if (scroller.scrollTop !== 0) this.later(); // the user scrolled before this script listened
    scroller.addEventListener("scroll", () => this.later(), { passive: true });
  }

  /** Stores the position after a short pause. */
  later(): void {
    this.forget();
    this.timer = setTimeout(() => this.keep(), pause);
  }

  /** Stores the position at once, for example before a new history entry is added. */
  keep(): void {
    this.forget();
    const place = this.now();
    if (place !== placeOf(history.state)) history.replaceState({ place }, "");
  }

  /** Cancels a pending write. The caller calls this before the page shows another history entry. */
  forget(): void {
    clearTimeout(this.timer);
  }
}
