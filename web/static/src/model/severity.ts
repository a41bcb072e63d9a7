// Derives the severity of table cells from their words. Tests compare it with OfRow in internal/watch/severity (Go).

import type { Cell } from "../net/wire.ts";

export type Severity = "bad" | "warn";

const stateColumns = new Set(["status", "phase", "state", "health", "type", "sync status", "health status"]);
const errorWords = [
  "backoff",
  "error",
  "errimage",
  "fail",
  "oomkilled",
  "evicted",
  "notready",
  "lost",
  "degraded",
  "exceeded",
  "invalid",
  "cannot",
  "outofcpu",
  "outofmemory",
  "outofpods",
  "unhealthy",
  "denied",
  "signal:",
  "exitcode:",
];
const warningWords = [
  "pending",
  "terminating",
  "creating",
  "deleting",
  "initializing",
  "init:",
  "progressing",
  "warning",
  "schedulingdisabled",
  "outofsync",
  "missing",
  "unknown",
  "released",
  "waiting",
];
const completedStates = ["Completed", "Succeeded", "Complete"];

export const severityOfFilterWord = (word: string): Severity | null =>
  word === "is:failing" ? "bad" : word === "is:waiting" ? "warn" : null;

export interface SeverityColumn {
  readonly index: number;
  readonly isReadyColumn: boolean;
  /** Index of the Desired column, which a Ready column is compared with; -1 if there is none. */
  readonly desired: number;
}

export function severityColumnsOf(names: readonly string[]): SeverityColumn[] {
  const lower = names.map((name) => name.toLowerCase());
  const desired = lower.indexOf("desired");
  return lower
    .map((name, index) => ({ index, name }))
    .filter(({ name }) => name === "ready" || stateColumns.has(name))
    .map(({ index, name }) => ({ index, isReadyColumn: name === "ready", desired }));
}

export function cellSeverity(
  severityColumns: readonly SeverityColumn[],
  cells: readonly Cell[],
  { index, isReadyColumn: ready, desired }: SeverityColumn,
): Severity | null {
  const text = textIn(cells, index);
  const severity = ready ? readySeverity(text, textIn(cells, desired)) : stateSeverity(text);
  // A completed Pod or Job is never ready, and that is not a problem.
  return ready &&
    severity === "warn" &&
    severityColumns.some((t) => !t.isReadyColumn && completedStates.includes(textIn(cells, t.index)))
    ? null
    : severity;
}

const textIn = (cells: readonly Cell[], index: number): string => String(cells[index] ?? "");

// Long lists repeat most texts, so their severities are cached.
const severityCache = new Map<string, Severity | null>();
const maxCached = 5000;

function stateSeverity(text: string): Severity | null {
  let severity = severityCache.get(text);
  if (severity !== undefined) return severity;
  severity = parseState(text);
  if (severityCache.size < maxCached) severityCache.set(text, severity);
  return severity;
}

function parseState(text: string): Severity | null {
  const word = text.toLowerCase().split(" ", 1)[0] ?? "";
  const containsAny = (parts: readonly string[]): boolean => parts.some((p) => word.includes(p));
  if (containsAny(errorWords)) return "bad";
  return containsAny(warningWords) ? "warn" : null;
}

// Accepts a ratio such as "1/2", a condition status, or a number that is compared with desired.
function readySeverity(text: string, desired: string): Severity | null {
  if (text === "False") return "bad";
  if (text === "Unknown") return "warn";
  if (text === "1/1") return null; // the most common value first, for speed
  const found = /^(\d+)\/(\d+)$/.exec(text.includes("/") ? text : `${text}/${desired}`);
  return found !== null && BigInt(found[1] ?? 0) < BigInt(found[2] ?? 0) ? "warn" : null;
}
