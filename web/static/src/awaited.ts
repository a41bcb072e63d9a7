// Decides when the error page for an unserved resource reloads, once the resource is in the list of resources. The
// reload may show the same error: the server replica that responds may not know the resource yet, or there may be
// another reason. So each delay is twice the one before. It is stored in the browser's history entry, which survives
// the reload.

const first = 5000; // ms; the shortest delay from one reload to the next
const longest = 300_000;

interface Load {
  readonly at: number;
  /** The delay from this reload to the next one, in ms. */
  readonly apart: number;
}

/**
 * Returns the ms to wait before the next reload, and the ms from that reload to the one after it. state is the stored
 * state of the history entry.
 */
export function nextLoad(state: unknown, now: number): { readonly wait: number; readonly apart: number } {
  const last = loadOf(state);
  const since = last === null ? NaN : now - last.at;
  // If the last reload was long ago, this is a new case, which starts with the initial delay.
  if (last === null || !(since >= 0 && since < 2 * last.apart)) return { wait: 0, apart: first };
  return { wait: Math.max(0, last.apart - since), apart: Math.min(longest, 2 * last.apart) };
}

/** Whether the history entry has the state of earlier reloads. A page that loaded successfully removes it. */
export const waited = (state: unknown): boolean => loadOf(state) !== null;

/** Returns the state to store in the history entry. */
export const kept = (load: Load): unknown => ({ load });

function loadOf(state: unknown): Load | null {
  const load = typeof state === "object" && state !== null ? (state as { load?: unknown }).load : null;
  const { at, apart } =
    typeof load === "object" && load !== null ? (load as Partial<Record<keyof Load, unknown>>) : {};
  return typeof at === "number" && typeof apart === "number" && apart >= first && apart <= longest
    ? { at, apart }
    : null;
}
