// The view that an address names, and back. Everything that is seen is in it.

import { inKiosk, under } from "./base.ts";
import { spelled } from "./odd.ts";
import type { Sort } from "./sort.ts";

export interface ObjectName {
  readonly ns: string; // empty for a cluster-scoped object
  readonly name: string;
}

/** Which log of a pod is seen. */
export interface LogName {
  readonly container: string; // empty: the usual one
  readonly previous: boolean; // of the container before it
}

/** The log that is seen where no other is named. */
export const usualLog: LogName = { container: "", previous: false };

/** An object that is open, and of its tab logs which one is seen. */
export interface Opened extends ObjectName {
  readonly log?: LogName;
}

export interface View {
  readonly ref: string; // "core/v1/pods"
  readonly ns: readonly string[];
  readonly q: string;
  readonly labels: string;
  readonly sort: Sort | null;
  /** The columns to show, in lower case; empty: the usual ones; "wide" alone: all. */
  readonly cols: readonly string[];
  readonly open: Opened | null;
  /** What of the open object is seen; empty: its first tab. */
  readonly tab: string;
}

/** The view of a kind as it is first shown. */
export const plain = (ref: string): View => ({ ref, ns: [], q: "", labels: "", sort: null, cols: [], open: null, tab: "" });

/** Reads the address of a list page; ref is used where the path has none, as on "/". */
export function parseView(pathname: string, search: string, ref: string): View {
  const path = /\/r\/([^/]+\/[^/]+\/[^/]+)\/?$/.exec(pathname);
  const query = new URLSearchParams(search);
  const one = (name: string): string => query.get(name)?.trim() ?? "";
  const open = parseOpen(query.get("open") ?? "");
  const tab = query.has("open") ? one("tab") : "";
  return {
    ref: path === null ? ref : decodeURIComponent(path[1] ?? ""),
    ns: namespaces(query.getAll("ns").join(",")),
    q: one("q"),
    labels: one("labels"),
    sort: parseSort(one("sort")),
    cols: [...new Set(query.getAll("cols").map((c) => c.trim().toLowerCase()).filter((c) => c !== ""))],
    open: open !== null && tab === "logs" ? { ...open, log: parseLog(query) } : open,
    tab,
  };
}

/** The address of a view: the same view, the same address. */
export function formatView(v: View): string {
  const query = new URLSearchParams();
  for (const ns of v.ns) query.append("ns", ns);
  if (v.q !== "") query.set("q", v.q);
  if (v.labels !== "") query.set("labels", v.labels);
  if (v.sort !== null) query.set("sort", (v.sort.descending ? "-" : "") + v.sort.column);
  for (const column of v.cols) query.append("cols", column);
  if (v.open !== null) query.set("open", `${v.open.ns === "" ? "_" : v.open.ns}/${v.open.name}`);
  if (v.open !== null && v.tab !== "") putTab(query, v.tab, v.open.log);
  return under(`/r/${v.ref}${behind(query)}`);
}

// What stands behind the path of a page. What a kiosk leads to is one.
function behind(query: URLSearchParams): string {
  if (inKiosk()) query.set("kiosk", "1");
  // Slashes and commas may stand in a query as they are, and read better.
  const search = query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3D", "=");
  return search === "" ? "" : `?${search}`;
}

/** Puts a tab into an address, and of the tab logs which one is seen. */
export function putTab(query: URLSearchParams, tab: string, log = usualLog): void {
  query.set("tab", tab);
  if (tab === "logs" && log.container !== "") query.set("container", log.container);
  if (tab === "logs" && log.previous) query.set("previous", "true");
}

/** Which log the address of a tab names. */
export const parseLog = (query: URLSearchParams): LogName => ({ container: query.get("container")?.trim() ?? "", previous: query.get("previous") === "true" });

/** Whether both are the same object, or none. */
export const sameObject = (a: ObjectName | null, b: ObjectName | null): boolean => a?.ns === b?.ns && a?.name === b?.name;

/** The address of a kind's list with an object beside it. */
export const besideHref = (ref: string, o: ObjectName): string => formatView({ ...plain(ref), ns: o.ns === "" ? [] : [o.ns], open: o });

/** The address of an object's own page, and of one of its tabs. */
export function objectHref(ref: string, o: ObjectName, tab = "", log?: LogName): string {
  const query = new URLSearchParams();
  if (tab !== "") putTab(query, tab, log);
  return under(`/o/${ref}/${o.ns === "" ? "_" : encodeURIComponent(o.ns)}/${encodeURIComponent(o.name)}${behind(query)}`);
}

/** The address of the page of what a view shows, without any other page: the open object's own, else the list. */
export const pageHref = (v: View): string => (v.open === null ? formatView(v) : objectHref(v.ref, v.open, v.tab));

/** The address of the page that compares an object with another, which is named there. */
export const compareHref = (ref: string, o: ObjectName): string => under(`/compare${behind(new URLSearchParams({ a: `${ref}/${o.ns === "" ? "_" : o.ns}/${o.name}` }))}`);

/** The title of a page, by the plural of its kind and the object that is open; null for none. */
export function titleOf(kinds: string, o: ObjectName | null): string {
  const object = o === null ? "" : `${o.ns === "" ? "" : `${o.ns}/`}${o.name} - `;
  return `${spelled(object)}${kinds} - Glasshouse`;
}

/** "a, b" as typed: each once, in order. */
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
