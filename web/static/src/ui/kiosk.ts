// Kiosk mode is for a wall display without a user. It keeps the screen on, and retries refused requests.

// Minimum ms between two retries of a refused request. A random time is added, to spread the requests of many displays.
const checkInterval = 60_000;

export interface Retryable {
  /** Whether the server refused a request that the page does not retry automatically. */
  readonly isRefused: boolean;
  retry(): void;
}

export function startKiosk(page: () => Retryable | null): void {
  void keepAwake();
  // The browser releases the wake lock when the page is hidden, so request it again when the page is visible.
  document.addEventListener("visibilitychange", () => void keepAwake());
  const check = (): void => {
    const shown = page();
    if (shown?.isRefused === true) shown.retry();
    setTimeout(check, checkInterval * (1 + Math.random()));
  };
  setTimeout(check, checkInterval);
}

let lock: WakeLockSentinel | null = null;

// If the browser refuses the wake lock, the screen sleeps as usual.
async function keepAwake(): Promise<void> {
  if (document.hidden || lock?.released === false || !("wakeLock" in navigator)) return;
  lock = await navigator.wakeLock.request("screen").catch(() => null);
}
