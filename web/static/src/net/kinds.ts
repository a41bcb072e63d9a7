// Decodes and checks the list of resources, which /api/v1/resources returns.

import { text } from "./text.ts";

export interface Kind {
  readonly ref: string; // resource ref, such as "core/v1/pods"
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
}

export interface ListedKind extends Kind {
  readonly group: string;
  readonly short: readonly string[];
  readonly categories: readonly string[];
  readonly section: string;
  readonly isRare: boolean;
  /** The text that the filter of the resource picker searches, in lower case. */
  readonly searchText: string;
  readonly state: string; // state of the watch, such as "live"; empty if the server does not watch the resource
  readonly reason: string;
  readonly count: number | null;
  /** The number of namespaces to which the server's watch is limited. 0 if it watches all namespaces. */
  readonly namespaces: number;
}

/** Returns the plural of a kind, such as "NetworkPolicies". Plural in web/templates/format.go does the same in Go. */
export function plural({ kind, resource }: Pick<Kind, "kind" | "resource">): string {
  for (const [cut, put] of [
    ["", "s"],
    ["", "es"],
    ["y", "ies"],
    ["", ""],
  ] as const) {
    const word = kind.slice(0, kind.length - cut.length) + put;
    if (kind.endsWith(cut) && word.toLowerCase() === resource) return word;
  }
  return resource;
}

// The resources whose objects select pods. For these objects, the panel shows the merged logs of the pods.
const selectsPods = new RegExp(
  "^(apps/v1/(deployments|statefulsets|daemonsets|replicasets)|batch/v1/(cron)?jobs|" +
    "core/v1/(services|replicationcontrollers))$",
);

/** Whether the objects of a resource select pods. The parameter `ref` is the ref of the resource. */
export const hasMergedLogs = (ref: string): boolean => selectsPods.test(ref);

/** Whether the panel shows a tab with logs for objects of a resource. */
export const hasLogs = (ref: string): boolean => ref === "core/v1/pods" || hasMergedLogs(ref);

/** Ranks how well search terms match a resource, from 0 (best) to 3 (no match). */
export function matchRank(
  { kind, resource, short }: Pick<ListedKind, "kind" | "resource" | "short">,
  terms: readonly string[],
): number {
  const names = [kind.toLowerCase(), resource];
  if (terms.some((t) => short.includes(t))) return 0;
  if (terms.some((t) => names.includes(t))) return 1;
  return [...names, ...short].some((n) => terms.some((t) => n.startsWith(t))) ? 2 : 3;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Decodes the resources that support the verb list. If isPreferred is true, it returns those in the preferred API
 * version of their group. Otherwise, it returns those in the other versions. Invalid elements are skipped.
 */
export function readKinds(body: unknown, isPreferred = true): ListedKind[] {
  const out: ListedKind[] = [];
  for (const r of fields(body, "resources")) {
    const [group, version, resource, kind] = [
      text(r["group"]),
      text(r["version"]),
      text(r["resource"]),
      text(r["kind"]),
    ];
    if (resource === "" || kind === "" || resource.includes("/")) continue;
    if ((r["preferred"] !== false) !== isPreferred) continue;
    if (Array.isArray(r["verbs"]) && !r["verbs"].includes("list")) continue;
    out.push({
      ref: text(r["ref"]) || `${group}/${version}/${resource}`,
      kind,
      resource,
      namespaced: r["namespaced"] === true,
      group,
      short: texts(r["shortNames"]),
      categories: texts(r["categories"]),
      section: text(r["section"]) || group,
      isRare: r["rare"] === true,
      searchText: [kind, resource, group, ...texts(r["shortNames"]), ...texts(r["categories"])].join(" ").toLowerCase(),
      state: text(r["state"]),
      reason: text(r["reason"]),
      count: typeof r["count"] === "number" ? r["count"] : null,
      namespaces: texts(r["namespaces"]).length,
    });
  }
  return out;
}

/** Decodes the build id, which identifies the page's version on the server. Returns "" if the server sends none. */
export function readBuild(body: unknown): string {
  return typeof body === "object" && body !== null ? text((body as Fields)["build"]) : "";
}

/** Decodes the number of objects by resource ref. Invalid values are skipped. */
export function readCounts(body: unknown): Map<string, number> {
  const counts = typeof body === "object" && body !== null ? (body as Fields)["counts"] : undefined;
  const entries = typeof counts === "object" && counts !== null ? Object.entries(counts) : [];
  return new Map(entries.filter((e): e is [string, number] => typeof e[1] === "number"));
}

/** The numbers of objects with problems, for one resource. */
export interface ProblemCounts {
  readonly failed: number;
  readonly degraded: number;
}

/** Decodes the numbers of objects with problems by resource ref. Resources without problems are missing. */
export function readProblemCounts(body: unknown): Map<string, ProblemCounts> {
  const problems = typeof body === "object" && body !== null ? (body as Fields)["problems"] : undefined;
  const number = (v: unknown): number => (typeof v === "number" ? v : 0);
  const entries = typeof problems === "object" && problems !== null ? Object.entries(problems as Fields) : [];
  return new Map(
    entries
      .filter((e): e is [string, Fields] => typeof e[1] === "object" && e[1] !== null)
      .map(([ref, p]) => [ref, { failed: number(p["failed"]), degraded: number(p["degraded"]) }]),
  );
}

/** Decodes the API groups that discovery could not read, with the reasons. */
export function readProblems(body: unknown): Map<string, string> {
  return new Map(
    fields(body, "problems")
      .map((p): [string, string] => [text(p["group"]), text(p["reason"]) || "not available"])
      .filter(([group]) => group !== ""),
  );
}

function fields(body: unknown, name: string): Fields[] {
  const value = typeof body === "object" && body !== null ? (body as Fields)[name] : undefined;
  return Array.isArray(value) ? value.filter((v): v is Fields => typeof v === "object" && v !== null) : [];
}

const texts = (v: unknown): string[] => (Array.isArray(v) ? v.map(text) : []);
