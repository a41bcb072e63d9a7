// Converts between a View, the complete state of a list page, and the URL of the page.

import { isKiosk, withBase } from "../net/base-path.ts";
import { escapeInvisible } from "../text/invisible-chars.ts";
import type { Sort } from "./sort.ts";

export interface ObjectName {
  readonly ns: string; // empty for a cluster-scoped object
  readonly name: string;
}

/** Identifies one of a pod's logs, which have the same pod but different containers. */
export interface LogSelection {
  readonly container: string; // the container of a log; empty for the default container
  readonly previous: boolean; // the log of the previous container instance
}

/** The log that is shown if the URL selects none. */
export const defaultLog: LogSelection = { container: "", previous: false };

/** An open object, and the log that its logs tab shows. */
export interface OpenedObject extends ObjectName {
  readonly log?: LogSelection;
}

export interface View {
  readonly ref: string; // the resource, such as "core/v1/pods"
  readonly ns: readonly string[];
  readonly q: string;
  readonly labels: string;
  readonly sort: Sort | null;
  /** The columns to show, in lower case. Empty: the default columns. "wide" alone: all columns. */
  readonly cols: readonly string[];
  readonly open: OpenedObject | null;
  /** The tab of the open object that is shown; empty: the first tab. */
  readonly tab: string;
}

/** Returns the default view of a resource. */
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

/** Parses the URL of a list page. ref: the resource if the path names none, as in "/". */
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

/** Returns the URL of a view. Equal views have equal URLs, so that URLs can be compared instead. */
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

// Formats the query string of a URL. In kiosk mode (for wall displays), links contain the kiosk parameter too.
function queryText(query: URLSearchParams): string {
  if (isKiosk()) query.set("kiosk", "1");
  // Slashes, commas and equals signs are valid in a query, and are easier to read unescaped.
  const search = query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3D", "=");
  return search === "" ? "" : `?${search}`;
}

/** Adds the parameters for a tab to a URL query. For the logs tab, they include the log that it shows. */
export function setTabParams(query: URLSearchParams, tab: string, log = defaultLog): void {
  query.set("tab", tab);
  if (tab === "logs" && log.container !== "") query.set("container", log.container);
  if (tab === "logs" && log.previous) query.set("previous", "true");
}

/** Parses the log that a URL query selects. */
export const parseLog = (query: URLSearchParams): LogSelection => ({
  container: query.get("container")?.trim() ?? "",
  previous: query.get("previous") === "true",
});

/** Whether a and b identify the same object, or are both null. */
export const sameObject = (a: ObjectName | null, b: ObjectName | null): boolean =>
  a?.ns === b?.ns && a?.name === b?.name;

/** Returns the URL of the list of a resource with an object of it open in the panel next to the table. */
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

/** Returns the URL to open a view in a page of its own: the page of the open object, or else the list. */
export const pageHref = (v: View): string => (v.open === null ? formatView(v) : objectHref(v.ref, v.open, v.tab));

/** Returns the URL of the page that compares object o with another object, which the user chooses there. */
export const compareHref = (ref: string, o: ObjectName): string =>
  withBase(`/compare${queryText(new URLSearchParams({ a: `${ref}/${o.ns === "" ? "_" : o.ns}/${o.name}` }))}`);

/** Returns the title of a page. kinds: the plural of the kind. o: the open object; null for none. */
export function titleOf(kinds: string, o: ObjectName | null): string {
  const object = o === null ? "" : `${o.ns === "" ? "" : `${o.ns}/`}${o.name} - `;
  return `${escapeInvisible(object)}${kinds} - Glasshouse`;
}

/** Parses typed text such as "a, b" into namespaces, without duplicates and sorted. */
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
