// Kiosk mode is for a wall display without a user. It keeps the screen on, and retries refused requests
// automatically.

// The time in ms between two checks. Each wait is extended by a random time of up to the same length, so that not all
// displays send requests at the same time.
const checkInterval = 60_000;

/** The part of a page that kiosk mode checks and retries. */
export interface Retryable {
  /** Whether the server refused a request that the page does not retry automatically. */
  readonly isRefused: boolean;
  retry(): void;
}

export function startKiosk(page: () => Retryable | null): void {
  void keepAwake();
  // The browser releases the wake lock when the page is hidden. Request it again when the page is visible.
  document.addEventListener("visibilitychange", () => void keepAwake());
  const check = (): void => {
    const shown = page();
    if (shown?.isRefused === true) shown.retry();
    setTimeout(check, checkInterval * (1 + Math.random()));
  };
  setTimeout(check, checkInterval);
}

let lock: WakeLockSentinel | null = null;

// Keeps the screen on with a wake lock. If the browser refuses the wake lock, the screen sleeps as usual.
async function keepAwake(): Promise<void> {
  if (document.hidden || lock?.released === false || !("wakeLock" in navigator)) return;
  lock = await navigator.wakeLock.request("screen").catch(() => null);
}
