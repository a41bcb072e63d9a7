// Converts the user's choices on a list page (a View) to the page's URL, and back.

import { clusterName, isKiosk, withBase } from "../net/base-path.ts";
import { formatInteger } from "../text/format.ts";
import { escapeInvisible } from "../text/invisible-chars.ts";
import type { Sort } from "./sort.ts";

export interface ObjectName {
  readonly ns: string; // namespace of the object; empty for a cluster-scoped object
  readonly name: string;
}

export interface LogSelection {
  readonly container: string; // empty for the default container
  readonly previous: boolean; // whether to show the log of the previous container instance (kubectl logs --previous)
  readonly filter?: string; // filter in the URL that selects the lines to show; see log-filter.ts
}

export const defaultLog: LogSelection = { container: "", previous: false };

/** Switches between the logs of the current and the previous container instance. If no log is open, opens this one. */
export const toggledLog = (log = defaultLog, tab = ""): LogSelection => ({
  ...log,
  previous: tab !== "logs" || !log.previous,
});

/** The search or filter text that the user typed in one tab of the panel. */
interface TabFind {
  readonly tab: string;
  readonly text: string;
}

export const findIn = (find: TabFind | undefined, tab: string): string => (find?.tab === tab ? find.text : "");

export const parseFind = (query: URLSearchParams): TabFind => ({
  tab: query.get("tab") ?? "",
  text: query.get("find") ?? "",
});

export interface OpenedObject extends ObjectName {
  /** The ref of the object's resource. Missing if the object belongs to the listed resource. */
  readonly ref?: string;
  readonly log?: LogSelection;
  readonly find?: TabFind;
}

export interface View {
  readonly ref: string; // ref of the listed resource, such as "core/v1/pods"
  readonly ns: readonly string[];
  readonly q: string;
  readonly labels: string;
  readonly sort: Sort | null;
  /** The visible columns, in lower case. Empty means the default columns, and ["wide"] means all columns. */
  readonly cols: readonly string[];
  readonly open: OpenedObject | null;
  /** The open tab of the panel. Empty for the first tab. */
  readonly tab: string;
  /**
   * The state of the activity feed: "list" or "all", optionally with a space and a filter. Empty if the feed is closed.
   * undefined leaves the feed as it is.
   */
  readonly activity?: string;
}

export const defaultView = (ref: string): View => ({
  ref,
  ns: [],
  q: "",
  labels: "",
  sort: defaultSort(ref),
  cols: [],
  open: null,
  tab: "",
});

/** Returns whether a resource is that of the events about objects. Two API groups serve the same events. */
export const isEvents = (ref: string): boolean => ref === "core/v1/events" || ref === "events.k8s.io/v1/events";

// A list of Events shows the newest first. Other lists have no default sort column (null), so autoSort applies. list.go
// has the same rule.
const defaultSort = (ref: string): Sort | null => (isEvents(ref) ? { column: "last seen", descending: false } : null);

/** Parses the URL of a list page. The parameter `ref` is the resource to use if the path contains none, as in "/". */
export function parseView(pathname: string, search: string, ref: string): View {
  const path = /\/r\/([^/]+\/[^/]+\/[^/]+)\/?$/.exec(pathname);
  const query = new URLSearchParams(search);
  const param = (name: string): string => query.get(name)?.trim() ?? "";
  const listed = path === null ? ref : decodeURIComponent(path[1] ?? "");
  const open = parseOpen(query.get("open") ?? "", listed);
  const tab = query.has("open") ? param("tab") : "";
  return {
    ref: listed,
    ns: namespaces(query.getAll("ns").join(",")),
    q: param("q"),
    labels: param("labels"),
    sort: parseSort(param("sort")) ?? defaultSort(listed),
    cols: [
      ...new Set(
        query
          .getAll("cols")
          .map((c) => c.trim().toLowerCase())
          .filter((c) => c !== ""),
      ),
    ],
    open:
      open === null
        ? null
        : {
            ...open,
            ...(tab === "logs" ? { log: parseLog(query) } : {}),
            ...(tab !== "" && query.has("find") ? { find: parseFind(query) } : {}),
          },
    tab,
    ...(param("activity") === "" ? {} : { activity: param("activity") }),
  };
}

/** Returns the URL of a view. Equal views have equal URLs, so callers can compare views by their URLs. */
export function formatView(v: View): string {
  const query = new URLSearchParams();
  for (const ns of v.ns) query.append("ns", ns);
  if (v.q !== "") query.set("q", v.q);
  if (v.labels !== "") query.set("labels", v.labels);
  // A missing parameter `sort` means the default order of the resource. So a view with sort null (by namespace) of a
  // resource with a default order needs an explicit parameter.
  const sort = v.sort ?? (defaultSort(v.ref) && { column: "namespace", descending: false });
  if (sort !== null) query.set("sort", (sort.descending ? "-" : "") + sort.column);
  for (const column of v.cols) query.append("cols", column);
  if (v.open !== null) {
    const { ref = v.ref, ns, name, log, find } = v.open;
    query.set("open", `${ref === v.ref ? "" : `${ref}/`}${ns || "_"}/${name}`);
    if (v.tab !== "") setTabParams(query, v.tab, log, find);
  }
  if (v.activity) query.set("activity", v.activity);
  return withBase(`/r/${v.ref}${queryText(query)}`);
}

function queryText(query: URLSearchParams): string {
  // Links on a wall display (kiosk mode) stay in kiosk mode.
  if (isKiosk()) query.set("kiosk", "1");
  // Do not escape these characters, which are valid in a query string, so that the URL is easier to read.
  const search = query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3D", "=");
  return search === "" ? "" : `?${search}`;
}

function setTabParams(query: URLSearchParams, tab: string, log = defaultLog, find?: TabFind): void {
  query.set("tab", tab);
  if (findIn(find, tab) !== "") query.set("find", findIn(find, tab));
  if (tab === "logs" && log.container !== "") query.set("container", log.container);
  if (tab === "logs" && log.previous) query.set("previous", "true");
  if (tab === "logs" && log.filter) query.set("filter", log.filter);
}

export const parseLog = (query: URLSearchParams): LogSelection => ({
  container: query.get("container")?.trim() ?? "",
  previous: query.get("previous") === "true",
  ...(query.has("filter") ? { filter: query.get("filter") ?? "" } : {}),
});

export const sameObject = (a: OpenedObject | null, b: OpenedObject | null): boolean =>
  a?.ref === b?.ref && a?.ns === b?.ns && a?.name === b?.name;

/** Returns the URL of a list page with one object open in the side panel. */
export const panelHref = (ref: string, o: ObjectName): string =>
  formatView({ ...defaultView(ref), ns: o.ns === "" ? [] : [o.ns], open: o });

/** Returns the URL of a list page with the log of a pod in the side panel. */
export const logHref = (ref: string, o: ObjectName, log: LogSelection): string =>
  formatView({ ...defaultView(ref), ns: [o.ns], open: { ...o, log }, tab: "logs" });

export function objectHref(ref: string, o: ObjectName, tab = "", log?: LogSelection, find?: TabFind): string {
  const query = new URLSearchParams();
  if (tab !== "") setTabParams(query, tab, log, find);
  return withBase(`/o/${ref}/${encodeURIComponent(o.ns || "_")}/${encodeURIComponent(o.name)}${queryText(query)}`);
}

export const pageHref = (v: View): string =>
  v.open === null ? formatView(v) : objectHref(v.open.ref ?? v.ref, v.open, v.tab);

/** Returns the URL of the compare page with this object on one side. There, the user selects the second object. */
export const compareHref = (ref: string, o: ObjectName): string =>
  withBase(`/compare${queryText(new URLSearchParams({ a: `${ref}/${o.ns || "_"}/${o.name}` }))}`);

/**
 * Returns a page title such as "(6) shop/web-1 - Pods - demo". The number of failed objects is first, so that a narrow
 * browser tab shows it.
 */
export function titleOf(kinds: string, o: ObjectName | null, failed = 0): string {
  const object = o === null ? "" : `${o.ns === "" ? "" : `${o.ns}/`}${o.name} - `;
  const title = escapeInvisible(`${object}${kinds} - ${clusterName()}`);
  return failed === 0 ? title : `(${formatInteger(failed)}) ${title}`;
}

/** Splits text such as "b, a" into sorted, unique namespaces. */
export function namespaces(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((ns) => ns !== ""))].sort();
}

function parseSort(text: string): Sort | null {
  const descending = text.startsWith("-");
  const column = (descending ? text.slice(1) : text).toLowerCase();
  return column === "" ? null : { column, descending };
}

// Parses the name of the object in the panel: namespace/name, or group/version/resource/namespace/name if the object
// has another resource than the list.
function parseOpen(text: string, listed: string): OpenedObject | null {
  const segments = text.split("/");
  const [ns = "", name = ""] = segments.splice(-2);
  if (ns === "" || name === "" || ![0, 3].includes(segments.length)) return null;
  const ref = segments.join("/");
  return { ...(ref === "" || ref === listed ? {} : { ref }), ns: ns === "_" ? "" : ns, name };
}

/** Returns the view with another object in the panel. The list stays the same, even if it lists another resource. */
export const withObject = (view: View, ref: string, open: OpenedObject, tab: string): View => ({
  ...view,
  open: ref === view.ref ? open : { ...open, ref },
  tab,
});
