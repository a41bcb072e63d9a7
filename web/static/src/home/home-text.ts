// Texts of the home page. internal/web/page/findings.go creates the same texts of problems; tests compare both.

import { formatInteger } from "../text/format.ts";
import { bytes, quantityText } from "../text/quantity.ts";
import { filterHint } from "../model/filter-hint.ts";
import { severityMatcher, whyOf } from "../model/severity.ts";
import { plural as pluralOfKind } from "../net/kinds.ts";
import type { Finding, Member, ObjectRef, Overview, Quota, SpecChange, Watched } from "../net/overview.ts";
import type { LogSelection } from "../model/view.ts";
import type { Severity, State } from "../net/wire.ts";

const sameRef = (a: ObjectRef, b: ObjectRef): boolean => a.resource === b.resource && nameOf(a) === nameOf(b);

/** Returns the name of an object with its namespace, such as "shop/web-1". */
export const nameOf = (o: ObjectRef): string => (o.ns === "" ? o.name : `${o.ns}/${o.name}`);

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${formatInteger(n)} ${n === 1 ? one : many}`;

/** Returns the cause of a problem. null if the object itself is the cause, or if the cause has no name. */
export const otherCause = (m: Member): Member["cause"] =>
  m.cause === null || sameRef(m, m.cause) || m.cause.name === "" ? null : m.cause;

/** Returns the owner of a problem's object, or null. An owner that is the cause of the problem does not count. */
export const otherOwner = ({ owner, cause }: Finding): ObjectRef | null =>
  owner === null || (cause !== null && sameRef(owner, cause)) ? null : owner;

export const sentenceOf = (m: Member): string => otherCause(m)?.sentence || whyOf(m.verdict);

const generic = new Set(["value", "name", "key", "valueFrom"]);

/** Returns a short name of the changed fields, such as "image" for spec.template.spec.containers[app].image. */
export function fieldText(what: string): string {
  const more = / and (\d+) more$/.exec(what);
  const paths = what
    .slice(0, more?.index)
    .split(/[, ]+/)
    .filter((path) => path !== "");
  const first = paths[0];
  if (first === undefined) return "spec";
  const others = paths.length - 1 + Number(more?.[1] ?? 0);
  const env = /\benv\[([^\]]+)\]/.exec(first)?.[1];
  const segments = first.match(/(?:[^.[]|\[[^\]]*\])+/g) ?? [first]; // A dot in brackets is part of a segment.
  const last = segments[segments.length - 1] ?? first;
  const key = /\[([^\]]*\.[^\]]*)\]$/.exec(last)?.[1] ?? last;
  const name = env !== undefined ? `env ${env}` : generic.has(last) ? segments.slice(-2).join(".") : key;
  return others === 0 ? name : `${name} and ${others} more`;
}

/**
 * Returns a text such as "image changed by kubectl-set" or "created by helm". The text names the changed object, unless
 * it is the object `of`.
 */
export function changeText(change: SpecChange, of: ObjectRef | null): string {
  const object = of === null || sameRef(change, of) ? "" : `${change.kind} ${change.name}`;
  const subject = object === "" ? "" : `${object} `;
  const author = `by ${change.by || "an unknown author"}`;
  const text = change.isCreation
    ? `${subject}created ${author}`
    : change.isDeletion
      ? `${subject}deleted`
      : `${fieldText(change.what)}${object === "" ? "" : ` of ${object}`} changed ${author}`;
  return change.isLater ? `${text} (after the problem began)` : text;
}

/** Returns the pod and the container whose previous log explains the problem, or null if no container has crashed. */
export function crashedPod(finding: Finding): { pod: ObjectRef; log: LogSelection } | null {
  const candidates: readonly Member[] = [finding, ...finding.members];
  const crashed = candidates.find((m) => m.verdict.reason === "CrashLoopBackOff" && m.resource === "core/v1/pods");
  const cause = candidates.find((m) => m.verdict.reason === "CrashLoopBackOff" && m.cause?.resource === "core/v1/pods");
  const pod = crashed ?? cause?.cause ?? null;
  if (pod === null) return null;
  const sentence = crashed?.verdict.sentence ?? cause?.cause?.sentence ?? "";
  const container = /\bcontainer ([a-z0-9]([-a-z0-9]*[a-z0-9])?):/i.exec(sentence)?.[1] ?? "";
  return { pod, log: { container, previous: true } };
}

/**
 * Reports whether a problem matches each word of a filter. A word such as is:failed matches a severity. Any other word
 * must be in a text of the problem.
 */
export function matchesFilter(finding: Finding, q: string): boolean {
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return true;
  const objects: readonly Member[] = [finding, ...finding.members];
  const texts = objects.flatMap((m) => [
    m.kind,
    nameOf(m),
    m.verdict.reason,
    m.verdict.sentence,
    ...(m.cause === null ? [] : [m.cause.kind, nameOf(m.cause), m.cause.sentence]),
  ]);
  if (finding.owner !== null) texts.push(finding.owner.kind, nameOf(finding.owner));
  if (finding.lastChange !== null) texts.push(finding.lastChange.by);
  const lower = texts.map((text) => text.toLowerCase());
  return words.every((word) => {
    const matches = severityMatcher(word);
    return matches === null
      ? lower.some((text) => text.includes(word))
      : objects.some((m) => matches(m.verdict.severity));
  });
}

const isFinal = (w: Watched): boolean => w.state !== "syncing";

/** Returns how many resource types have been read, and how many there are, with those whose watch has not started. */
export function readProgress({ watched, planned }: Pick<Overview, "watched" | "planned">): {
  done: number;
  total: number;
} {
  return { done: watched.filter(isFinal).length, total: Math.max(planned, watched.length) };
}

/** Describes the progress of the first reads. Returns null when all resource types have been read. */
export function progressText(o: Pick<Overview, "watched" | "planned">): string | null {
  const { done, total } = readProgress(o);
  return done === total ? null : `Reading resource types: ${done} of ${total} done`;
}

/** Whether events have been read. Otherwise, it is unknown whether there are warnings. */
export const hasEvents = (watched: readonly Watched[]): boolean =>
  watched.some((w) => w.resource === "core/v1/events" && (w.state === "live" || w.state === "stale"));

interface Empty {
  readonly title: string;
  readonly detail: string;
}

/** The plural of a watched resource, such as "Pods". */
export const pluralOfWatched = ({ kind, resource: ref }: Pick<Watched, "kind" | "resource">): string =>
  pluralOfKind({ kind, resource: ref.split("/")[2] ?? "" });

/**
 * The text in place of the problems, if there are none or none matches the filter. It also names the resources that
 * have not been read, because they can have problems.
 */
export function emptyText(o: Overview, q: string): Empty {
  if (o.problems.length > 0) {
    const hint = filterHint(q, false);
    const hidden = `${plural(o.total, "problem")} hidden`;
    return { title: `No problems match “${q}”`, detail: hint === "" ? hidden : `${hidden}. ${hint}` };
  }
  const live = o.watched.filter((w) => w.state === "live");
  const scope = plural(live.length, "resource type");
  const reading = progressText(o);
  if (reading !== null) return { title: "No problems found yet", detail: `${reading}.` };
  const unknown = o.watched.filter((w) => w.state !== "live");
  if (unknown.length === 0)
    return o.watched.length === 0
      ? { title: "Nothing has been read", detail: "No resource type can be watched, so problems are unknown." }
      : { title: `No problems in ${scope}`, detail: "" };
  const names = unknown.map((w) => `${pluralOfWatched(w)} (${stateWord(w).toLowerCase()})`).join(", ");
  return {
    title: live.length === 0 ? "Problems could not be checked" : `No problems found in ${scope}`,
    detail: `Problems in these resource types may be missing here: ${names}.`,
  };
}

export function stateWord(w: Pick<Watched, "state">): string {
  return {
    syncing: "Loading",
    live: "Live",
    stale: "Stale",
    forbidden: "Forbidden",
    absent: "Not available",
    failed: "Failed",
  }[w.state];
}

function staleReason(stale: readonly Watched[]): string {
  const names = stale.map(pluralOfWatched);
  const text = names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
  return `${text}: ${stale[0]?.reason || "the watch is interrupted"}`;
}

/** The state of the overview. It is as current as the most outdated resource in the overview. */
export function overallState(o: Overview): State {
  const stale = o.watched.filter((w) => w.state === "stale");
  const since = stale.map((w) => w.since).sort()[0] ?? "";
  const { done, total } = readProgress(o);
  const none = { since: "", reason: "", count: null, total: null, namespaces: [] };
  if (done < total) return { ...none, state: "syncing", count: done, total };
  if (stale.length > 0) return { ...none, state: "stale", since, reason: staleReason(stale) };
  return { ...none, state: "live" };
}

/**
 * The number of objects with a severity. It can exceed the number of problems: one problem can have several objects.
 */
export const countOf = (o: Overview, severity: Severity): number => o.counts.get(severity) ?? 0;

export const percent = (part: number, total: number): number => (total > 0 ? Math.round((100 * part) / total) : 0);

/** Formats a number. From 100, it is rounded to an integer. Smaller numbers have at most three digits ("41.5"). */
export const shortNumber = (n: number): string =>
  n >= 100 ? formatInteger(Math.round(n)) : String(Number(n.toPrecision(n < 10 ? 2 : 3)));

/** Formats two amounts of bytes, such as "41 of 96 GiB" or "27.3 GiB of 3.4 TiB". If `total` is 0, it is omitted. */
export const bytesOf = (part: number, total: number): string =>
  total > 0 ? amountOf(bytes(part), bytes(total)) : withUnit(bytes(part));

/** Formats the used part of a quota, such as "11.6 of 80 cores" or "27.3 of 160 GiB". */
export const quotaText = ({ resource, used, hard }: Quota): string =>
  amountOf(quantityText(resource, used), quantityText(resource, hard));

// Completes the unit of an amount of bytes, such as "96 Gi".
const withUnit = (quantity: string): string => quantity.replace(/ ([KMGTPE]i)$/, " $1B");

// Joins two quantities. If both have the same unit, the text contains the unit only once.
function amountOf(part: string, total: string): string {
  const [a, b] = [withUnit(part), withUnit(total)];
  const unit = / \D+$/.exec(b)?.[0] ?? "";
  return `${a.endsWith(unit) ? a.slice(0, a.length - unit.length) : a} of ${b}`;
}

/**
 * Returns the numbers of pods by phase, such as "150 running, 3 failed". The order of the phases is always the same.
 */
export function podsText(pods: ReadonlyMap<string, number>): string {
  const order = ["Running", "Pending", "Failed", "Unknown", "Succeeded"];
  const rank = (phase: string): number => (order.includes(phase) ? order.indexOf(phase) : order.length);
  return [...pods]
    .filter(([, n]) => n > 0)
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([phase, n]) => `${formatInteger(n)} ${phase.toLowerCase()}`)
    .join(", ");
}
