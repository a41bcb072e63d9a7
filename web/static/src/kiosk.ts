// Kiosk mode, for a wall display without a user. It keeps the screen awake, and repeats refused requests, because no
// user would.

const every = 60_000; // ms; up to twice as long, so that many screens do not send requests at the same time

/** The part of a page that kiosk mode checks. */
export interface Tended {
  /** The request was refused, and the page does not repeat it by itself. */
  readonly refused: boolean;
  again(): void;
}

/** Checks the page for as long as it is open. */
export function tend(page: () => Tended | null): void {
  void keepAwake();
  // The browser releases the lock when the page is hidden.
  document.addEventListener("visibilitychange", () => void keepAwake());
  const look = (): void => {
    const shown = page();
    if (shown?.refused === true) shown.again();
    setTimeout(look, every * (1 + Math.random()));
  };
  setTimeout(look, every);
}

let lock: WakeLockSentinel | null = null;

// If the browser or its policy refuses the lock, the screen sleeps as usual.
async function keepAwake(): Promise<void> {
  if (document.hidden || lock?.released === false || !("wakeLock" in navigator)) return;
  lock = await navigator.wakeLock.request("screen").catch(() => null);
}
