// Reads the overview of a cluster: what is wrong in it, each problem with its cause, and facts about the cluster.

import { readVerdict } from "./verdict.ts";
import { states, type JsonObject, type StateName, type Verdict } from "./wire.ts";

export interface ObjectRef {
  readonly resource: string; // such as "apps/v1/deployments"
  readonly kind: string;
  readonly ns: string; // empty for a cluster-scoped object
  readonly name: string;
}

/** The object that explains a verdict. */
interface Cause extends ObjectRef {
  readonly sentence: string;
  readonly missing: boolean; // whether the object does not exist
}

/** One of the objects of a finding, with its verdict and with the cause of its own problem. */
export interface Member extends ObjectRef {
  readonly verdict: Verdict;
  readonly cause: Cause | null;
}

/** A change of an object's specification, and its author. */
export interface SpecChange extends ObjectRef {
  readonly at: string;
  readonly by: string; // the field manager
  readonly what: string; // the changed fields as text; can be empty
  readonly isCreation: boolean;
  readonly isDeletion: boolean; // the author is then unknown
  readonly isLater: boolean; // whether the last change of a finding was made after its problem began
}

/** Failed or degraded objects with the same cause. The fields of Member describe the object to examine first. */
export interface Finding extends Member {
  readonly since: string; // start of the problem; empty if unknown
  readonly count: number; // number of objects with this problem
  readonly owner: ObjectRef | null; // the workload that owns the object, or its topmost owner
  readonly chain: readonly ObjectRef[]; // the path from the object to its cause (the last element); empty if unknown
  readonly members: readonly Member[]; // the objects with this problem; possibly fewer than `count`
  readonly lastChange: SpecChange | null;
}

/** Warning events with the same reason. */
export interface Warning {
  readonly reason: string;
  readonly message: string; // message of the newest event
  readonly count: number;
  readonly last: string;
  readonly objects: readonly ObjectRef[];
}

export interface Amount {
  readonly requested: number;
  readonly allocatable: number;
}

export interface Quota {
  readonly name: string; // name of the ResourceQuota
  readonly resource: string; // resource that the quota limits, such as "requests.cpu"
  readonly used: string;
  readonly hard: string;
  readonly percent: number;
}

/** Facts about the cluster. A member is null if the viewer may not read its resource. */
interface Summary {
  readonly nodes: { readonly ready: number; readonly total: number } | null;
  readonly pods: ReadonlyMap<string, number> | null; // number of pods by phase
  readonly cpu: Amount | null; // in cores
  readonly memory: Amount | null; // in bytes
  readonly quotas: readonly Quota[];
  readonly apiServer: {
    readonly version: string; // version of the API server; empty if unknown
    readonly state: StateName | null;
    readonly reason: string;
    readonly latency: number; // ms, rounded up; 0 if unknown
  };
}

/** A resource that the server watches for the overview, with the number of its objects and their memory in bytes. */
export interface Watched {
  readonly resource: string;
  readonly kind: string;
  readonly state: StateName;
  readonly since: string;
  readonly reason: string;
  readonly namespaces: readonly string[]; // the namespaces in which the resource has this state; empty for all
  readonly objects: number;
  readonly bytes: number;
}

export interface Progressing {
  readonly resource: string;
  readonly kind: string;
  readonly count: number;
}

export interface Overview {
  readonly problems: readonly Finding[]; // the worst first
  readonly total: number; // number of findings, including those that are not in `problems`
  readonly counts: ReadonlyMap<string, number>; // the number of objects by severity
  readonly progressing: readonly Progressing[]; // the numbers of progressing objects by resource, the largest first
  readonly summary: Summary;
  readonly changes: readonly SpecChange[];
  readonly warnings: readonly Warning[];
  readonly watched: readonly Watched[];
  readonly planned: number; // number of resources in `watched` once the watches of all have started; 0 if unknown
  readonly unexamined: readonly string[]; // sentences about resources that were not searched for problems
}

/** The maximum length of a text on the page, in characters. Longer texts are cut. */
const maxText = 2000;
const maxItems = 1000;

class InvalidOverview extends Error {}

/** Reads an overview. If the message is invalid, it returns a text that names the invalid part. */
export function readOverview(m: JsonObject): Overview | string {
  try {
    const summary = object(m["summary"], "summary");
    return {
      problems: list(m["problems"], "problems", finding),
      total: count(m["total"], "total"),
      counts: countMap(m["counts"], "counts"),
      progressing: list(m["progressing"], "progressing", progressing),
      summary: {
        nodes: optional(summary["nodes"], "nodes", (nodes) => ({
          ready: count(nodes["ready"], "ready"),
          total: count(nodes["total"], "total"),
        })),
        pods: isAbsent(summary["pods"]) ? null : countMap(summary["pods"], "pods"),
        cpu: optional(summary["cpu"], "cpu", amount),
        memory: optional(summary["memory"], "memory", amount),
        quotas: list(summary["quotas"], "quotas", quota),
        apiServer: apiServer(summary["apiServer"]),
      },
      changes: list(m["changes"], "changes", change),
      warnings: list(m["warnings"], "warnings", warning),
      watched: list(m["watched"], "watched", watched),
      planned: number(m["planned"], "planned"),
      unexamined: texts(m["unexamined"], "unexamined"),
    };
  } catch (err) {
    if (err instanceof InvalidOverview) return err.message;
    throw err;
  }
}

const ref = (o: JsonObject): ObjectRef => ({
  resource: text(o["resource"], "resource"),
  kind: text(o["kind"], "kind"),
  ns: text(o["ns"], "ns"),
  name: text(o["name"], "name"),
});

const finding = (o: JsonObject): Finding => ({
  ...member(o),
  since: time(o["since"], "since"),
  count: count(o["count"], "count"),
  owner: optional(o["owner"], "owner", ref),
  chain: list(o["chain"], "chain", ref),
  members: list(o["objects"], "objects", member),
  lastChange: optional(o["lastChange"], "lastChange", change),
});

const member = (o: JsonObject): Member => ({
  ...ref(o),
  verdict: readVerdict({
    severity: o["severity"],
    reason: text(o["reason"], "reason"),
    sentence: text(o["sentence"], "sentence"),
  }),
  cause: optional(o["cause"], "cause", (c) => ({
    ...ref(c),
    sentence: text(c["sentence"], "sentence"),
    missing: c["missing"] === true,
  })),
});

const change = (o: JsonObject): SpecChange => ({
  ...ref(o),
  at: time(o["at"], "at"),
  by: text(o["by"], "by"),
  what: text(o["what"], "what"),
  isCreation: o["created"] === true,
  isDeletion: o["deleted"] === true,
  isLater: o["afterStart"] === true,
});

const warning = (o: JsonObject): Warning => ({
  reason: text(o["reason"], "reason"),
  message: text(o["message"], "message"),
  count: count(o["count"], "count"),
  last: time(o["last"], "last"),
  objects: list(o["objects"], "objects", ref),
});

const amount = (o: JsonObject): Amount => ({
  requested: number(o["requested"], "requested"),
  allocatable: number(o["allocatable"], "allocatable"),
});

const quota = (o: JsonObject): Quota => ({
  name: text(o["name"], "name"),
  resource: text(o["resource"], "resource"),
  used: text(o["used"], "used"),
  hard: text(o["hard"], "hard"),
  percent: number(o["percent"], "percent"),
});

function apiServer(v: unknown): Summary["apiServer"] {
  const server = object(v, "apiServer");
  return {
    version: text(server["version"], "version"),
    state: states.find((s) => s === server["state"]) ?? null,
    reason: text(server["reason"], "reason"),
    latency: number(server["latencyMs"], "latencyMs"),
  };
}

const progressing = (m: JsonObject): Progressing => ({
  resource: text(m["resource"], "resource"),
  kind: text(m["kind"], "kind"),
  count: count(m["count"], "count"),
});

function watched(o: JsonObject): Watched {
  const state = states.find((s) => s === o["state"]);
  if (state === undefined) throw new InvalidOverview("a watched resource of the overview has an invalid state");
  return {
    resource: text(o["resource"], "resource"),
    kind: text(o["kind"], "kind"),
    state,
    since: time(o["since"], "since"),
    reason: text(o["reason"], "reason"),
    namespaces: texts(o["namespaces"], "namespaces"),
    objects: count(o["objects"], "objects"),
    bytes: count(o["bytes"], "bytes"),
  };
}

const isAbsent = (v: unknown): v is null | undefined => v === undefined || v === null;

function object(v: unknown, name: string): JsonObject {
  if (typeof v !== "object" || v === null || Array.isArray(v))
    throw new InvalidOverview(`“${name}” of the overview is not an object`);
  return v as JsonObject;
}

const optional = <T>(v: unknown, name: string, read: (o: JsonObject) => T): T | null =>
  isAbsent(v) ? null : read(object(v, name));

function items(v: unknown, name: string): unknown[] {
  if (isAbsent(v)) return [];
  if (!Array.isArray(v)) throw new InvalidOverview(`“${name}” of the overview is not a list`);
  return v.slice(0, maxItems);
}

const list = <T>(v: unknown, name: string, read: (o: JsonObject) => T): T[] =>
  items(v, name).map((item) => read(object(item, name)));

const texts = (v: unknown, name: string): string[] => items(v, name).map((item) => text(item, name));

function text(v: unknown, name: string): string {
  if (isAbsent(v)) return "";
  if (typeof v !== "string") throw new InvalidOverview(`“${name}” of the overview is not a string`);
  return v.length > maxText ? `${v.slice(0, maxText)}…` : v;
}

// Reads a time. Returns "" for an unknown time, which the server writes as the year 1, and for an invalid time.
function time(v: unknown, name: string): string {
  const at = text(v, name);
  return at.startsWith("0001-") || Number.isNaN(Date.parse(at)) ? "" : at;
}

function number(v: unknown, name: string): number {
  if (isAbsent(v)) return 0;
  if (typeof v !== "number" || !Number.isFinite(v))
    throw new InvalidOverview(`“${name}” of the overview is not a number`);
  return v;
}

function count(v: unknown, name: string): number {
  const n = number(v, name);
  if (!Number.isSafeInteger(n) || n < 0)
    throw new InvalidOverview(`“${name}” of the overview is not a non-negative integer`);
  return n;
}

const countMap = (v: unknown, name: string): ReadonlyMap<string, number> =>
  new Map(isAbsent(v) ? [] : Object.entries(object(v, name)).map(([key, n]) => [key, count(n, name)]));
