// The replicas of a workload as one bar and one sentence.

import type { FactLevel } from "../facts/fact.ts";
import { number, text, valueAt } from "../facts/read.ts";
import type { CountedSeverity } from "../../model/severity.ts";
import { formatInteger } from "../../text/format.ts";

type ReplicaLevel = FactLevel | "progress";

interface Segment {
  readonly level: ReplicaLevel;
  readonly label: string; // name of the segment, such as "failed"
  readonly count: number;
}

export interface Replicas {
  /** The segments of the bar, from left to right. Segments with the count 0 are omitted. */
  readonly segments: readonly Segment[];
  /** A text such as "5 of 7 ready, 6 updated, 2 failed". */
  readonly text: string;
  readonly level: ReplicaLevel;
}

export type SeverityCounts = Readonly<Record<CountedSeverity, number>>;

interface Counts {
  readonly desired: number | null;
  readonly current: number | null;
  readonly ready: number | null;
  readonly updated: number | null;
  readonly available: number | null;
}

/**
 * Returns the replicas of a workload, or null if the object has no replicas. The parameter `pods` contains the number
 * of pods by severity; null if unknown.
 */
export function replicasOf(ref: string, object: unknown, pods: SeverityCounts | null): Replicas | null {
  const counts = countsOf(ref, object);
  if (counts === null) return null;
  const { desired, current, ready, updated, available } = counts;
  if (desired === null || ready === null)
    return {
      segments: [],
      text: desired === null ? "Number of replicas unknown" : `${formatInteger(desired)} desired`,
      level: "quiet",
    };
  if (desired === 0 && (current ?? 0) === 0)
    return { segments: [], text: ref === "apps/v1/daemonsets" ? "0 desired" : "Scaled to 0", level: "quiet" };
  const unready = Math.max(0, (current ?? ready) - ready);
  // `pods` also counts ready pods that have problems. Limit the next three counts, so that their sum is at most
  // `unready`.
  const failed = Math.min(pods?.failed ?? 0, unready);
  const degraded = Math.min(pods?.degraded ?? 0, unready - failed);
  const progressing = Math.min(pods?.progressing ?? 0, unready - failed - degraded);
  const others = unready - failed - degraded - progressing;
  const missing = Math.max(0, desired - ready - unready);
  const segments: Segment[] = [
    { level: "good", label: "ready", count: ready },
    { level: "bad", label: "failed", count: failed },
    { level: "warn", label: "degraded", count: degraded },
    { level: "progress", label: "progressing", count: progressing },
    { level: "warn", label: "not ready", count: others },
    { level: "quiet", label: "missing", count: missing },
  ];
  const words = [`${formatInteger(ready)} of ${formatInteger(desired)} ready`];
  if (updated !== null && updated !== desired) words.push(`${formatInteger(updated)} updated`);
  if (available !== null && available !== ready) words.push(`${formatInteger(available)} available`);
  if (failed > 0) words.push(`${formatInteger(failed)} failed`);
  if (degraded > 0) words.push(`${formatInteger(degraded)} degraded`);
  if (progressing > 0) words.push(`${formatInteger(progressing)} progressing`);
  if (current !== null && current > desired) words.push(`${formatInteger(current - desired)} more than desired`);
  const isDone = ready === desired && (updated ?? desired) === desired && (current ?? ready) === desired;
  const isFailed = failed > 0 || (ready + degraded + progressing === 0 && desired > 0);
  const isProgressing = progressing > 0 && degraded + others + missing === 0;
  return {
    segments: segments.filter((s) => s.count > 0),
    text: words.join(", "),
    level: isDone ? "good" : isFailed ? "bad" : isProgressing ? "progress" : "warn",
  };
}

const scaled = /^(apps\/v1\/(deployments|statefulsets|replicasets)|core\/v1\/replicationcontrollers)$/;

export function countsOf(ref: string, object: unknown): Counts | null {
  const status = valueAt(object, "status");
  // A count that the status omits means 0 if a controller has written the status. Otherwise, it is unknown.
  const isKnown =
    number(valueAt(status, "observedGeneration")) !== null || number(valueAt(status, "replicas")) !== null;
  const count = (member: string): number | null =>
    number(valueAt(status, member)) ?? (isKnown && valueAt(status, member) === undefined ? 0 : null);
  if (ref === "apps/v1/daemonsets")
    return {
      desired: number(valueAt(status, "desiredNumberScheduled")),
      current: count("currentNumberScheduled"),
      ready: count("numberReady"),
      updated: count("updatedNumberScheduled"),
      available: count("numberAvailable"),
    };
  if (!scaled.test(ref)) return null;
  // ReplicaSets, ReplicationControllers, and workloads with the update strategy OnDelete do not replace their pods
  // after a change of the template, so do not show the number of updated pods.
  const updates =
    !/(replicasets|replicationcontrollers)$/.test(ref) &&
    text(valueAt(object, "spec", "updateStrategy", "type")) !== "OnDelete";
  return {
    desired: number(valueAt(object, "spec", "replicas")),
    current: count("replicas"),
    ready: count("readyReplicas"),
    updated: updates ? count("updatedReplicas") : null,
    available: count("availableReplicas"),
  };
}
