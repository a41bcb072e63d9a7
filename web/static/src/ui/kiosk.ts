// Kiosk mode, for a wall display without a user. It keeps the screen awake, and repeats refused requests, because no
// user would.

// Ms; the actual interval is up to twice as long, so that many screens do not send requests at the same time.
const checkInterval = 60_000;

/** The part of a page that kiosk mode checks. */
export interface Retryable {
  /** Whether the server refused a request that the page does not repeat by itself. */
  readonly isRefused: boolean;
  retry(): void;
}

/** Starts kiosk mode, which lasts as long as the page is open. */
export function startKiosk(page: () => Retryable | null): void {
  void keepAwake();
  // The browser releases the wake lock when the page is hidden, so request it again.
  document.addEventListener("visibilitychange", () => void keepAwake());
  const check = (): void => {
    const shown = page();
    if (shown?.isRefused === true) shown.retry();
    setTimeout(check, checkInterval * (1 + Math.random()));
  };
  setTimeout(check, checkInterval);
}

let lock: WakeLockSentinel | null = null;

// Keeps the screen awake by a wake lock. If the browser or its policy refuses the lock, the screen sleeps as usual.
async function keepAwake(): Promise<void> {
  if (document.hidden || lock?.released === false || !("wakeLock" in navigator)) return;
  lock = await navigator.wakeLock.request("screen").catch(() => null);
}
