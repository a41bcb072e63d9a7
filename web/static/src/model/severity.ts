// The severities of the server's verdicts on objects, and what the page derives from them.

import { severities } from "../net/verdict.ts";
import type { Severity, Verdict } from "../net/wire.ts";

/** The severities that the counts of a list show, the worst first. */
export const countedSeverities = ["failed", "degraded", "progressing"] as const;
export type CountedSeverity = (typeof countedSeverities)[number];

export const isCounted = (severity: Severity): severity is CountedSeverity => severity !== "none" && severity !== "ok";

const isSeverity = (name: string): name is Severity => (severities as readonly string[]).includes(name);

/**
 * Returns a predicate for a filter word such as "is:failed", or null for other text. The server has the same words.
 */
export function severityMatcher(word: string): ((severity: Severity) => boolean) | null {
  if (word === "is:failing") return (s) => s === "failed" || s === "degraded";
  if (word === "is:waiting") return (s) => s === "progressing";
  const name = word.startsWith("is:") ? word.slice("is:".length) : "";
  return isSeverity(name) ? (s) => s === name : null;
}

const stateColumns = new Set(["status", "phase", "state", "health", "ready", "sync status", "health status"]);

/** Reports whether a column, such as "Status", shows the state of objects. The verdict's severity colors its cells. */
export const showsState = (column: string): boolean => stateColumns.has(column.toLowerCase());

/** The text of the column "Why": the sentence, or the severity if there is none. The server has the same text. */
export const whyOf = (v: Verdict): string => v.sentence || (isCounted(v.severity) ? v.severity : "");

export const sameVerdict = (a: Verdict, b: Verdict): boolean =>
  a.severity === b.severity && a.reason === b.reason && a.sentence === b.sentence;
