// Creates the links that export a list. exportsOf in internal/web/page/list.go creates the same links on the server.

import { withBase } from "../net/base-path.ts";
import { setText } from "../ui/dom.ts";
import type { View } from "../model/view.ts";
import type { Column } from "../net/wire.ts";

/** Returns the URL that exports a view. Omits columns in `view.cols` that the table does not have. */
export function exportHref(view: View, columns: readonly Column[], content: string, format: string): string {
  const query = new URLSearchParams();
  for (const ns of view.ns) query.append("ns", ns);
  if (view.labels !== "") query.set("labels", view.labels);
  if (view.q !== "") query.set("q", view.q);
  if (view.sort !== null) query.set("sort", (view.sort.descending ? "-" : "") + view.sort.column);
  query.set("format", format);
  query.set("view", content);
  // An export of rows has the columns of the page; other exports contain complete objects.
  if (content === "rows") {
    const names = new Set(["namespace", ...columns.map((c) => c.name.toLowerCase())]);
    // Keep all names in view.cols if the table's columns are not known yet, or if the only name is "wide" (all).
    const isWide = view.cols.join() === "wide";
    let cols = isWide || columns.length === 0 ? view.cols : view.cols.filter((c) => names.has(c));
    // The server's "wide" does not contain the columns that Glasshouse adds.
    if (isWide && columns.some((c) => c.extraAt !== undefined)) cols = [...names];
    for (const c of cols.length === 0 ? ["usual"] : cols) query.append("cols", c);
  }
  return withBase(`/api/v1/snapshot/${view.ref}?${query.toString()}`);
}

/** Returns the name of an exported file, such as "pods-shop-20261121T1405.csv". */
export function exportName(view: View, format: string, at: Date): string {
  const pad2 = (n: number): string => String(n).padStart(2, "0");
  const namespacePart = view.ns.length > 3 ? [`${view.ns.length}-namespaces`] : view.ns;
  const timestamp = `${at.getFullYear()}${pad2(at.getMonth() + 1)}${pad2(at.getDate())}T${pad2(
    at.getHours(),
  )}${pad2(at.getMinutes())}`;
  return `${[view.ref.split("/")[2] ?? "", ...namespacePart, timestamp].join("-")}.${format}`;
}

export function drawExports(menu: HTMLElement, view: View, columns: readonly Column[]): void {
  for (const a of menu.querySelectorAll<HTMLAnchorElement>("a[data-format]")) {
    const { view: content = "", format = "" } = a.dataset;
    a.href = exportHref(view, columns, content, format);
    a.onclick = () => void (a.download = exportName(view, format, new Date()));
  }
}

/** Shows a warning in the export menu that the data is possibly out of date. null removes the warning. */
export function warnExports(menu: HTMLElement, staleText: string | null): void {
  const warning = menu.querySelector(".doubt") as HTMLElement;
  warning.hidden = staleText === null;
  setText(warning, staleText === null ? "" : `${staleText}. The export may be out of date.`);
}
