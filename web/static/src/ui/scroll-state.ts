// The scroll position of a list. It is stored in the history entry, so that back and forward show the same rows again.
// It is not part of the URL, so that someone who opens a copied URL starts at the top.

// Ms without scrolling, after which the position is stored; browsers reject scripts that write the history too often.
const saveDelay = 150;

/** Returns the position in the current history entry, in rows from the top; null if it has none. */
export function scrollPositionOf(state: unknown): number | null {
  const position = typeof state === "object" && state !== null ? (state as { place?: unknown }).place : null;
  return typeof position === "number" && position >= 0 ? position : null;
}

/**
 * Stores the scroll position in the current history entry while the list is scrolled. currentPosition returns it.
 */
export class ScrollState {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(scroller: HTMLElement, private readonly currentPosition: () => number) {
    // Disable the browser's own restoration, because its scrolling could not be distinguished from the user's.
    history.scrollRestoration = "manual";
    if (scroller.scrollTop !== 0) this.scheduleSave(); // the user scrolled before this script listened
    scroller.addEventListener("scroll", () => this.scheduleSave(), { passive: true });
  }

  /** Stores the position after a short pause. */
  scheduleSave(): void {
    this.cancelSave();
    this.timer = setTimeout(() => this.save(), saveDelay);
  }

  /** Stores the position at once, for example before a new history entry is added. */
  save(): void {
    this.cancelSave();
    const position = this.currentPosition();
    if (position !== scrollPositionOf(history.state)) history.replaceState({ place: position }, "");
  }

  /** Cancels a pending write. The caller calls this before the page shows another history entry. */
  cancelSave(): void {
    clearTimeout(this.timer);
  }
}
