// Stores the scroll position of a list in the browser's history entry, so that the back button shows the same rows
// again. The position is not part of the URL, so a copied URL opens the list at the top.

// The time in ms after the last scroll event at which the position is stored. Browsers reject scripts that write the
// history too often.
const saveDelay = 150;

/** Returns the scroll position in a history entry's state, in rows from the top. Returns null if it has none. */
export function scrollPositionOf(state: unknown): number | null {
  const position = typeof state === "object" && state !== null ? (state as { place?: unknown }).place : null;
  return typeof position === "number" && position >= 0 ? position : null;
}

/**
 * Stores the scroll position in the current history entry when the user scrolls. currentPosition returns the position
 * in rows from the top.
 */
export class ScrollState {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(scroller: HTMLElement, private readonly currentPosition: () => number) {
    // Disable the browser's own scroll restoration. Its scrolling could not be distinguished from scrolling by the
    // user.
    history.scrollRestoration = "manual";
    if (scroller.scrollTop !== 0) this.scheduleSave(); // the user scrolled before this script ran
    scroller.addEventListener("scroll", () => this.scheduleSave(), { passive: true });
  }

  /** Stores the scroll position after a short pause. */
  scheduleSave(): void {
    this.cancelSave();
    this.timer = setTimeout(() => this.save(), saveDelay);
  }

  /** Stores the scroll position immediately, for example before a new history entry is added. */
  save(): void {
    this.cancelSave();
    const position = this.currentPosition();
    if (position !== scrollPositionOf(history.state)) history.replaceState({ place: position }, "");
  }

  /** Cancels a scheduled save. It must be called before the page shows another history entry. */
  cancelSave(): void {
    clearTimeout(this.timer);
  }
}
