// The URLs of the home page, which shows the problems of the cluster or of one namespace.

import { isKiosk, withBase } from "../net/base-path.ts";

export interface HomeView {
  /** The selected namespaces. Empty for all. */
  readonly ns: readonly string[];
  readonly q: string;
}

/** Parses the URL of the home page. The parameter `path` has no base path. It is, for example, "/ns/shop". */
export function parseHome(path: string, search: string): HomeView {
  const query = new URLSearchParams(search);
  const inPath = /\/ns\/([^/]+)\/?$/.exec(path)?.[1];
  const ns = inPath === undefined ? query.getAll("ns").join(",") : decodeURIComponent(inPath);
  return { ns: ns.split(/[\s,]+/).filter((name) => name !== ""), q: query.get("q")?.trim() ?? "" };
}

/** With limitedStart, "/" shows only the namespace of a limited viewer, so the URL of all namespaces is "/?ns=". */
export function formatHome({ ns, q }: HomeView, limitedStart = false): string {
  const query = new URLSearchParams();
  if (ns.length > 1) for (const name of ns) query.append("ns", name);
  if (ns.length === 0 && limitedStart) query.set("ns", "");
  if (q !== "") query.set("q", q);
  if (isKiosk()) query.set("kiosk", "1");
  const search = query.toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
  const path = ns.length === 1 ? `/ns/${encodeURIComponent(ns[0] ?? "")}` : "/";
  return withBase(search === "" ? path : `${path}?${search}`);
}
