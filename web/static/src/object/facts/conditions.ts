// Reads the conditions of an object, and judges whether each one is good or bad.

import type { FactLevel } from "./fact.ts";
import { valueAt, scalar, text, time, trees } from "./read.ts";

export interface Condition {
  readonly key: string;
  readonly type: string;
  readonly status: string;
  readonly level: FactLevel;
  /** The judgment on the condition in words, such as "Expected status". */
  readonly meaning: string;
  readonly reason: string;
  readonly message: string;
  /** The time at which the status of the condition changed. Empty if unknown. */
  readonly since: string;
}

const maxConditions = 50;

// Matches condition types such as "Ready", for which the status True is good.
const goodWhenTrue = new RegExp(
  "(^|[a-z])(Ready|Available|Healthy|Succeeded|Completed?|Established|Accepted|Initialized|Scheduled|Progressing" +
    "|Synced|Reconciled|Valid|Validated|Approved|Resolved|ResolvedRefs|Programmed|Bound|Active|Conformant|Installed" +
    "|Deployed|Provisioned|Attached|AbleToScale|DisruptionAllowed|PodReadyToStartContainers)$",
);
// Matches condition types such as "MemoryPressure", for which the status True is bad.
const badWhenTrue = new RegExp(
  "pressure$|unavailable$|fail(ed|ure|ing)?$|error(s|ed)?$|stalled$|degraded$|deadlock|readonly|violation" +
    "|conflict(s|ed)?$|nonstructural|frequent|corrupt|disruptiontarget|dangling|outdated$|exceeded$|remaining$" +
    "|unhealthy$|invalid$|^evicted$",
  "i",
);
// A condition with one of these reasons is harmless, even if its status usually means a problem.
const harmlessReasons = new Set(["PodCompleted", "ScaledToZero", "Completed"]);

export function conditionsOf(object: unknown): Condition[] {
  const seen = new Set<string>();
  return trees(valueAt(object, "status", "conditions"))
    .slice(0, maxConditions)
    .flatMap((c) => {
      const type = text(c["type"]);
      const key = seen.has(type) ? `${type}#${seen.size}` : type;
      seen.add(key);
      if (type === "") return [];
      const status = scalar(c["status"]) || "Unknown";
      const reason = text(c["reason"]);
      return [
        {
          key,
          type,
          status,
          ...evaluate(type, status, reason),
          reason,
          message: text(c["message"]).trim(),
          since: time(c["lastTransitionTime"]) || time(c["lastUpdateTime"]),
        },
      ];
    });
}

function evaluate(type: string, status: string, reason: string): { level: FactLevel; meaning: string } {
  if (status !== "True" && status !== "False") return { level: "warn", meaning: "Unknown" };
  const goodStatus = badWhenTrue.test(type) ? "False" : goodWhenTrue.test(type) ? "True" : "";
  // Neither badWhenTrue nor goodWhenTrue matches the type, so only the object's controller knows the good status.
  if (goodStatus === "") return { level: "quiet", meaning: "Unknown whether this status is good" };
  if (status === goodStatus) return { level: "good", meaning: "Expected status" };
  return harmlessReasons.has(reason)
    ? { level: "quiet", meaning: "Completed or scaled to zero" }
    : { level: "bad", meaning: "Not the expected status" };
}
