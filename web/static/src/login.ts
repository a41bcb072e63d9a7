// The user may be logged out. The server then responds to every page with a login page, which leads back to it. So a
// reload is enough to log in.

import { under } from "./base.ts";

export const logIn = (): void => location.reload();

/** Checks whether the user is still logged in, for example after a login in another tab. */
export async function askWho(
  known: () => void,
  stranger: () => void,
  get: typeof fetch = (...a) => fetch(...a),
): Promise<void> {
  try {
    const answer = await get(under("/api/v1/status"), { cache: "no-store", headers: { accept: "application/json" } });
    if (answer.ok) return known();
  } catch {
    // A proxy that redirects this request redirects a page load as well.
  }
  stranger();
}
