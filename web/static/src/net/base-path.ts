// The path prefix of all routes, from --base-path. The page's HTML contains it. Every route name passes through this
// file.

// Tests have no document, or only a part of one.
const documentRoot = (): HTMLElement | undefined =>
  (typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined));

/** Whether the page is in kiosk mode, for a screen on a wall. */
export const isKiosk = (): boolean => documentRoot()?.dataset["kiosk"] !== undefined;

/** Returns the URL path of a route. */
export function withBase(route: string): string {
  return `${documentRoot()?.dataset["base"] ?? ""}${route}`;
}
