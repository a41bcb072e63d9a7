// Kiosk mode is for a wall display without a user. It keeps the screen on, retries refused requests, and can rotate
// through several views.

// Minimum ms between two retries of a refused request. A random time is added, to spread the requests of many displays.
const checkInterval = 60_000;

export interface Retryable {
  /** Whether the server refused a request that the page does not retry automatically. */
  readonly isRefused: boolean;
  retry(): void;
}

export function startKiosk(page: () => Retryable | null): void {
  void keepAwake();
  startRotation();
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

/** The views through which a wall display rotates. */
interface Rotation {
  readonly interval: number; // ms that each view is shown
  readonly views: readonly string[]; // paths with queries; empty for no rotation
  readonly next: number; // index of the next view
}

const rotationKey = "glasshouse.rotation";
const minInterval = 5; // s
const pauseAfterInput = 60_000; // ms without input until the rotation continues

/**
 * Reads a rotation from the fragment of a URL, such as "#rotate=30&view=/&view=/r/core/v1/nodes". Returns null if the
 * fragment does not have the parameter "rotate". An interval of 0 s ends a rotation.
 */
export function parseRotation(href: string): Rotation | null {
  const page = new URL(href);
  const parameters = new URLSearchParams(page.hash.slice(1));
  if (!parameters.has("rotate")) return null;
  const seconds = Number(parameters.get("rotate"));
  const views = parameters.getAll("view").flatMap((view) => {
    const url = URL.canParse(view, page.origin) ? new URL(view, page.origin) : page;
    if (url === page || url.origin !== page.origin) return [];
    url.searchParams.set("kiosk", "1");
    return [url.pathname + url.search];
  });
  return {
    interval: Math.max(minInterval, seconds) * 1000,
    views: seconds > 0 ? views : [],
    next: views[0] === page.pathname + page.search ? 1 : 0,
  };
}

// Opens each view with a page load, because views can be different types of pages. The rotation is stored in the
// browser tab, because the URLs of the views do not contain it.
function startRotation(): void {
  const rotation = parseRotation(location.href) ?? storedRotation();
  if (rotation === null) return;
  storeRotation(rotation);
  const { interval, views } = rotation;
  const next = rotation.next % views.length;
  const view = views[next];
  if (view === undefined) return;
  const showNext = async (): Promise<void> => {
    timer = setTimeout(() => void showNext(), interval);
    // If the server does not respond, keep this page. Otherwise, the browser would show an error page, which does not
    // rotate.
    const isServed = await fetch(view).then(
      () => true,
      () => false,
    );
    if (!isServed) return;
    storeRotation({ ...rotation, next: next + 1 });
    location.replace(view);
  };
  let timer = setTimeout(() => void showNext(), interval);
  const pause = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void showNext(), Math.max(interval, pauseAfterInput));
  };
  for (const type of ["pointermove", "pointerdown", "keydown", "wheel"])
    document.addEventListener(type, pause, { passive: true });
}

// Without storage, only the first page of the rotation knows it.
function storedRotation(): Rotation | null {
  try {
    return JSON.parse(sessionStorage.getItem(rotationKey) ?? "null") as Rotation | null;
  } catch {
    return null;
  }
}

function storeRotation(rotation: Rotation): void {
  try {
    sessionStorage.setItem(rotationKey, JSON.stringify(rotation));
  } catch {
    // The browser refuses storage, so the next page does not rotate.
  }
}
