// A page on a wall, at which nobody is: it keeps the screen awake, and asks again
// for what it was refused, as nobody else would.

const every = 60_000; // ms; up to twice as long, lest all screens ask at once

/** What can be wrong with what is shown. */
export interface Tended {
  /** What was asked for was refused, and is not asked for again by itself. */
  readonly refused: boolean;
  again(): void;
}

/** Looks after a page for as long as it is there. */
export function tend(page: () => Tended | null): void {
  void keepAwake();
  // The browser lets the screen sleep when the page is not seen.
  document.addEventListener("visibilitychange", () => void keepAwake());
  const look = (): void => {
    const shown = page();
    if (shown?.refused === true) shown.again();
    setTimeout(look, every * (1 + Math.random()));
  };
  setTimeout(look, every);
}

let lock: WakeLockSentinel | null = null;

// Where the browser, or who owns it, does not let it, the screen does as it does.
async function keepAwake(): Promise<void> {
  if (document.hidden || lock?.released === false || !("wakeLock" in navigator)) return;
  lock = await navigator.wakeLock.request("screen").catch(() => null);
}
