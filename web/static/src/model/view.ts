// Converts between a View (everything that the user has chosen on a list page) and the URL of the page.

import { isKiosk, withBase } from "../net/base-path.ts";
import { escapeInvisible } from "../text/invisible-chars.ts";
import type { Sort } from "./sort.ts";

export interface ObjectName {
  readonly ns: string; // empty for a cluster-scoped object
  readonly name: string;
}

/** Selects one of a pod's logs. */
export interface LogSelection {
  readonly container: string; // container name; empty for the default container
  readonly previous: boolean; // whether to show the log of the previous instance of the container
}

export const defaultLog: LogSelection = { container: "", previous: false };

/** The object that is open in the panel, with the log that its logs tab shows. */
export interface OpenedObject extends ObjectName {
  readonly log?: LogSelection;
}

export interface View {
  readonly ref: string; // resource ref, such as "core/v1/pods"
  readonly ns: readonly string[];
  readonly q: string;
  readonly labels: string;
  readonly sort: Sort | null;
  /**
   * The visible columns, in lower case. An empty list means the default columns, and "wide" alone means all columns.
   */
  readonly cols: readonly string[];
  readonly open: OpenedObject | null;
  /** The visible tab of the open object. Empty for the first tab. */
  readonly tab: string;
}

export const defaultView = (ref: string): View => ({
  ref,
  ns: [],
  q: "",
  labels: "",
  sort: null,
  cols: [],
  open: null,
  tab: "",
});

/** Parses the URL of a list page. ref is the resource to use if the path contains none, as in "/". */
export function parseView(pathname: string, search: string, ref: string): View {
  const path = /\/r\/([^/]+\/[^/]+\/[^/]+)\/?$/.exec(pathname);
  const query = new URLSearchParams(search);
  const param = (name: string): string => query.get(name)?.trim() ?? "";
  const open = parseOpen(query.get("open") ?? "");
  const tab = query.has("open") ? param("tab") : "";
  return {
    ref: path === null ? ref : decodeURIComponent(path[1] ?? ""),
    ns: namespaces(query.getAll("ns").join(",")),
    q: param("q"),
    labels: param("labels"),
    sort: parseSort(param("sort")),
    cols: [...new Set(query.getAll("cols").map((c) => c.trim().toLowerCase()).filter((c) => c !== ""))],
    open: open !== null && tab === "logs" ? { ...open, log: parseLog(query) } : open,
    tab,
  };
}

/** Returns the URL of a view. Equal views have equal URLs, so views can be compared by their URLs. */
export function formatView(v: View): string {
  const query = new URLSearchParams();
  for (const ns of v.ns) query.append("ns", ns);
  if (v.q !== "") query.set("q", v.q);
  if (v.labels !== "") query.set("labels", v.labels);
  if (v.sort !== null) query.set("sort", (v.sort.descending ? "-" : "") + v.sort.column);
  for (const column of v.cols) query.append("cols", column);
  if (v.open !== null) query.set("open", `${v.open.ns === "" ? "_" : v.open.ns}/${v.open.name}`);
  if (v.open !== null && v.tab !== "") setTabParams(query, v.tab, v.open.log);
  return withBase(`/r/${v.ref}${queryText(query)}`);
}

// Formats the query string of a URL. In kiosk mode (for wall displays), links keep the kiosk parameter.
function queryText(query: URLSearchParams): string {
  if (isKiosk()) query.set("kiosk", "1");
  // Slashes, commas and equals signs are allowed in a query string, and are easier to read unescaped.
  const search = query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3D", "=");
  return search === "" ? "" : `?${search}`;
}

/** Adds the parameters for a tab to a URL query. For the logs tab, they include the selected log. */
export function setTabParams(query: URLSearchParams, tab: string, log = defaultLog): void {
  query.set("tab", tab);
  if (tab === "logs" && log.container !== "") query.set("container", log.container);
  if (tab === "logs" && log.previous) query.set("previous", "true");
}

export const parseLog = (query: URLSearchParams): LogSelection => ({
  container: query.get("container")?.trim() ?? "",
  previous: query.get("previous") === "true",
});

/** Reports whether a and b identify the same object, or are both null. */
export const sameObject = (a: ObjectName | null, b: ObjectName | null): boolean =>
  a?.ns === b?.ns && a?.name === b?.name;

/** Returns the URL of a resource's list with one object open in the panel next to the table. */
export const panelHref = (ref: string, o: ObjectName): string =>
  formatView({ ...defaultView(ref), ns: o.ns === "" ? [] : [o.ns], open: o });

/** Returns the URL of an object's own page, or of a tab on that page. */
export function objectHref(ref: string, o: ObjectName, tab = "", log?: LogSelection): string {
  const query = new URLSearchParams();
  if (tab !== "") setTabParams(query, tab, log);
  return withBase(
    `/o/${ref}/${o.ns === "" ? "_" : encodeURIComponent(o.ns)}/${encodeURIComponent(o.name)}${queryText(query)}`,
  );
}

/** Returns the URL that opens a view without the panel: the page of the open object, or the list if none is open. */
export const pageHref = (v: View): string => (v.open === null ? formatView(v) : objectHref(v.ref, v.open, v.tab));

/** Returns the URL of the compare page with object o selected. The user selects the second object on that page. */
export const compareHref = (ref: string, o: ObjectName): string =>
  withBase(`/compare${queryText(new URLSearchParams({ a: `${ref}/${o.ns === "" ? "_" : o.ns}/${o.name}` }))}`);

/** Returns the title of a page. kinds is the plural of the kind. o is the open object, or null. */
export function titleOf(kinds: string, o: ObjectName | null): string {
  const object = o === null ? "" : `${o.ns === "" ? "" : `${o.ns}/`}${o.name} - `;
  return `${escapeInvisible(object)}${kinds} - Glasshouse`;
}

/**
 * Parses a list of namespaces that the user typed, such as "b, a". Duplicates are removed, and the result is sorted.
 */
export function namespaces(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((ns) => ns !== ""))].sort();
}

function parseSort(text: string): Sort | null {
  const descending = text.startsWith("-");
  const column = (descending ? text.slice(1) : text).toLowerCase();
  return column === "" ? null : { column, descending };
}

function parseOpen(text: string): ObjectName | null {
  const slash = text.indexOf("/");
  if (slash < 1 || slash === text.length - 1) return null;
  const ns = text.slice(0, slash);
  return { ns: ns === "_" ? "" : ns, name: text.slice(slash + 1) };
}
