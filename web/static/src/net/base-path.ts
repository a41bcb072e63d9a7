// Every URL of a route must be created by withBase, which adds the path prefix of --base-path.

// Returns the html element. In tests, it can be undefined, because there is no complete document.
const documentRoot = (): HTMLElement | undefined =>
  typeof document === "undefined" ? undefined : (document.documentElement as HTMLElement | undefined);

/** Reports whether the page is in kiosk mode (for wall displays). */
export const isKiosk = (): boolean => documentRoot()?.dataset["kiosk"] !== undefined;

/** Returns the URL path of a route, including the prefix of --base-path. */
export function withBase(route: string): string {
  // The server writes the prefix into the HTML of the page.
  return `${documentRoot()?.dataset["base"] ?? ""}${route}`;
}

/** Returns the cluster's name, or "Glasshouse" if the server wrote no name into the page. */
export const clusterName = (): string => documentRoot()?.dataset["name"] ?? "Glasshouse";
