// Decides when the error page for an unserved resource reloads, once the resource is in the list of resources. The
// reload may show the same error: the server replica that responds may not know the resource yet, or there may be
// another reason. So each delay is twice the one before. It is stored in the browser's history entry, which survives
// the reload.

const minDelay = 5000; // ms; the shortest delay from one reload to the next
const maxDelay = 300_000;

interface ReloadState {
  readonly at: number;
  /** The delay from this reload to the next one, in ms. */
  readonly delay: number;
}

/**
 * Returns the ms to wait before the next reload, and the ms from that reload to the one after it. state is the stored
 * state of the history entry.
 */
export function nextReload(state: unknown, now: number): { readonly wait: number; readonly delay: number } {
  const last = parseReloadState(state);
  const elapsed = last === null ? NaN : now - last.at;
  // If the last reload was long ago, this is a new case, which starts with the initial delay.
  if (last === null || !(elapsed >= 0 && elapsed < 2 * last.delay)) return { wait: 0, delay: minDelay };
  return { wait: Math.max(0, last.delay - elapsed), delay: Math.min(maxDelay, 2 * last.delay) };
}

/** Whether the history entry has the state of earlier reloads. A page that loaded successfully removes it. */
export const hasReloadState = (state: unknown): boolean => parseReloadState(state) !== null;

/** Returns the state to store in the history entry. */
export const historyState = (load: ReloadState): unknown => ({ load });

function parseReloadState(state: unknown): ReloadState | null {
  const load = typeof state === "object" && state !== null ? (state as { load?: unknown }).load : null;
  const { at, delay } =
    typeof load === "object" && load !== null ? (load as Partial<Record<keyof ReloadState, unknown>>) : {};
  return typeof at === "number" && typeof delay === "number" && delay >= minDelay && delay <= maxDelay
    ? { at, delay }
    : null;
}
