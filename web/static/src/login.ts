// Who looks may be logged in no more. The server then has a login in the place of
// every page, which leads back: to load the page again is to be asked for it.

import { under } from "./base.ts";

export const logIn = (): void => location.reload();

/** Asks whether who looks is still known, as when they have logged in again elsewhere. */
export async function askWho(known: () => void, stranger: () => void, get: typeof fetch = (...a) => fetch(...a)): Promise<void> {
  try {
    const answer = await get(under("/api/v1/status"), { cache: "no-store", headers: { accept: "application/json" } });
    if (answer.ok) return known();
  } catch {
    // A proxy that leads elsewhere leads a page there as well.
  }
  stranger();
}
