// Under which path the server has all its routes: that of --base-path, which the
// page's HTML tells. Whatever names a route goes through here.

/** The address of a route. */
export function under(route: string): string {
  const root = typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined); // Tests have no page, or a part of one.
  return `${root?.dataset["base"] ?? ""}${route}`;
}
