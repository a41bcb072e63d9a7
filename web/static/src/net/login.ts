// The user may be logged out. The server then responds to every page with a login page, which leads back to it. So a
// reload is enough to log in.

import { withBase } from "./base-path.ts";

export const reloadToLogIn = (): void => location.reload();

/** Checks whether the user is still logged in, for example after a login in another tab. */
export async function checkLogin(
  onLoggedIn: () => void,
  onLoggedOut: () => void,
  get: typeof fetch = (...a) => fetch(...a),
): Promise<void> {
  try {
    const response = await get(withBase("/api/v1/status"), {
      cache: "no-store",
      headers: { accept: "application/json" },
    });
    if (response.ok) return onLoggedIn();
  } catch {
    // A proxy that redirects this request redirects a page load as well.
  }
  onLoggedOut();
}
