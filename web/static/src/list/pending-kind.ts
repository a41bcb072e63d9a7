// Decides when the error page for an unknown resource reloads itself after the resource has appeared.

import type { ListedKind } from "../net/kinds.ts";

const minDelay = 5000; // ms; the shortest delay between two reloads
const maxDelay = 300_000;

// The state of reloads. It is stored in the browser's history entry, which survives a reload.
interface ReloadState {
  readonly at: number;
  /** The minimum delay in ms between this reload and the next one. */
  readonly delay: number;
}

/**
 * Returns two times in ms: `wait`, the time before the next reload, and `delay`, the minimum time after that reload.
 */
export function nextReload(state: unknown, now: number): { readonly wait: number; readonly delay: number } {
  const last = parseReloadState(state);
  const elapsed = last === null ? NaN : now - last.at;
  // If this is the first error, or the last reload was long ago, reload immediately and use the shortest delay.
  if (last === null || !(elapsed >= 0 && elapsed < 2 * last.delay)) return { wait: 0, delay: minDelay };
  // Double the delay: each reload can reach a server replica that does not know the resource yet, and fail again.
  return { wait: Math.max(0, last.delay - elapsed), delay: Math.min(maxDelay, 2 * last.delay) };
}

/**
 * Reports whether the browser's history entry contains the state of earlier reloads. A page that loaded successfully
 * removes that state.
 */
export const hasReloadState = (state: unknown): boolean => parseReloadState(state) !== null;

export const historyState = (load: ReloadState): unknown => ({ load });

function parseReloadState(state: unknown): ReloadState | null {
  const load = typeof state === "object" && state !== null ? (state as { load?: unknown }).load : null;
  const { at, delay } =
    typeof load === "object" && load !== null ? (load as Partial<Record<keyof ReloadState, unknown>>) : {};
  return typeof at === "number" && typeof delay === "number" && delay >= minDelay && delay <= maxDelay
    ? { at, delay }
    : null;
}

/**
 * Reloads the error page for a resource that the cluster does not serve. The reload happens once the cluster serves the
 * resource, in the requested API version or in another one. The reload waits while the page is not idle, such as while
 * the user is typing. The caller must call the returned function whenever the list of resources has arrived. If the ref
 * is empty, the page is never reloaded.
 */
export function reloadWhenServed(ref: string, kinds: () => readonly ListedKind[], isIdle: () => boolean): () => void {
  if (ref === "") return () => {};
  const [group, , resource] = ref.split("/");
  const isServed = (): boolean => kinds().some((k) => k.group === group && k.resource === resource);
  let wasServed = true;
  let reloadScheduled = false;
  const reloadWhenIdle = (delay: number): void => {
    reloadScheduled = isServed();
    if (!reloadScheduled) return;
    if (!isIdle()) return void setTimeout(() => reloadWhenIdle(delay), 1000);
    history.replaceState(historyState({ at: Date.now(), delay }), "");
    location.reload();
  };
  return () => {
    const now = isServed();
    if (!reloadScheduled && (kinds().some((k) => k.ref === ref) || (now && !wasServed))) {
      reloadScheduled = true;
      const { wait, delay } = nextReload(history.state, Date.now());
      setTimeout(() => reloadWhenIdle(delay), wait);
    }
    wasServed = now;
  };
}
