// Stores the scroll position in the browser's history entry, so that the back button shows the same rows.

// ms after the last scroll event until the position is saved. Browsers reject scripts that write the history too often.
const saveDelay = 150;

/** Returns the scroll position in rows from the top, or null if the state has none. */
export function scrollPositionOf(state: unknown): number | null {
  const position = typeof state === "object" && state !== null ? (state as { place?: unknown }).place : null;
  return typeof position === "number" && position >= 0 ? position : null;
}

/** Stores the scroll position when the user scrolls. currentPosition returns it in rows from the top. */
export class ScrollState {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    scroller: HTMLElement,
    private readonly currentPosition: () => number,
  ) {
    // Disable the browser's own scroll restoration, because it could not be distinguished from scrolling by the user.
    history.scrollRestoration = "manual";
    if (scroller.scrollTop !== 0) this.scheduleSave(); // the user scrolled before this script ran
    scroller.addEventListener("scroll", () => this.scheduleSave(), { passive: true });
  }

  scheduleSave(): void {
    this.cancelSave();
    this.timer = setTimeout(() => this.save(), saveDelay);
  }

  save(): void {
    this.cancelSave();
    const position = this.currentPosition();
    if (position !== scrollPositionOf(history.state)) history.replaceState({ place: position }, "");
  }

  /** Must be called before the page shows another history entry, because that entry has another scroll position. */
  cancelSave(): void {
    clearTimeout(this.timer);
  }
}
