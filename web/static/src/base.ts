// Under which path the server has all its routes: that of --base-path, which the
// page's HTML tells. Whatever names a route goes through here.

const root = (): HTMLElement | undefined => (typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined)); // Tests have no page, or a part of one.

/** Whether the page is a kiosk: what is shown, for a screen on a wall. */
export const inKiosk = (): boolean => root()?.dataset["kiosk"] !== undefined;

/** The address of a route. */
export function under(route: string): string {
  return `${root()?.dataset["base"] ?? ""}${route}`;
}
