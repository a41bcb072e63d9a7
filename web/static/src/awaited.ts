// When the page of a kind that was not there is loaded anew, now that the kind is
// listed. That may not help: the server that answers may not know it yet, or have
// another reason. Each time the next is twice as far, which is kept with the
// entry of the history: that outlasts the load.

const first = 5000; // ms from one load to the next
const longest = 300_000;

interface Load {
  readonly at: number;
  /** How far the next is, in milliseconds. */
  readonly apart: number;
}

/** In how many milliseconds, by what is kept with the entry, to load anew, and how far the next load is from that. */
export function nextLoad(state: unknown, now: number): { readonly wait: number; readonly apart: number } {
  const last = loadOf(state);
  const since = last === null ? NaN : now - last.at;
  // After a while in which it was not asked for it is another matter.
  if (last === null || !(since >= 0 && since < 2 * last.apart)) return { wait: 0, apart: first };
  return { wait: Math.max(0, last.apart - since), apart: Math.min(longest, 2 * last.apart) };
}

/** Whether something is kept with the entry: a page that is what was waited for has no use for it. */
export const waited = (state: unknown): boolean => loadOf(state) !== null;

/** What is kept with the entry of the history. */
export const kept = (load: Load): unknown => ({ load });

function loadOf(state: unknown): Load | null {
  const load = typeof state === "object" && state !== null ? (state as { load?: unknown }).load : null;
  const { at, apart } = typeof load === "object" && load !== null ? (load as Partial<Record<keyof Load, unknown>>) : {};
  return typeof at === "number" && typeof apart === "number" && apart >= first && apart <= longest ? { at, apart } : null;
}
