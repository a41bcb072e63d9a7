// Where a list was scrolled to, kept with its entry of the history, so that going
// back or forward shows the rows that were seen there. It is no part of the
// address: who is sent a link begins at the top.

const pause = 150; // ms at rest: browsers refuse what writes the history too often

/** The place of the entry that is shown, in rows from the top; null where it has none. */
export function placeOf(state: unknown): number | null {
  const place = typeof state === "object" && state !== null ? (state as { place?: unknown }).place : null;
  return typeof place === "number" && place >= 0 ? place : null;
}

/** Keeps the place of the entry that is shown, as it is scrolled. now is what that is. */
export class Place {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(scroller: HTMLElement, private readonly now: () => number) {
    // Where a browser had scrolled to by itself would look as if a person had.
    history.scrollRestoration = "manual";
    if (scroller.scrollTop !== 0) this.later(); // Of what was scrolled before nothing more is heard.
    scroller.addEventListener("scroll", () => this.later(), { passive: true });
  }

  /** Keeps it in a moment. */
  later(): void {
    this.forget();
    this.timer = setTimeout(() => this.keep(), pause);
  }

  /** Keeps it at once, as before another entry is begun. */
  keep(): void {
    this.forget();
    const place = this.now();
    if (place !== placeOf(history.state)) history.replaceState({ place }, "");
  }

  /** Another entry is shown: what was scrolled was not of that. */
  forget(): void {
    clearTimeout(this.timer);
  }
}
