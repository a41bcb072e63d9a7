// Lets the user log in again. A reload leads to the login page, and then back to the requested page.

import { withBase } from "./base-path.ts";

export const reloadToLogIn = (): void => location.reload();

/** Calls onLoggedIn if the user is logged in (possibly by a login in another tab), and otherwise onLoggedOut. */
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
    // The request failed, probably because a login proxy redirected it. Treat this as logged out.
  }
  onLoggedOut();
}
