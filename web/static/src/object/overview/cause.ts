// The object that explains the verdict on another object.

import { isCounted } from "../../model/severity.ts";
import { severities } from "../../net/verdict.ts";
import { isTree, text } from "../facts/read.ts";
import type { Verdict } from "../../net/wire.ts";
import type { OwnedPod } from "../workload/workload-pods.ts";

export interface Cause {
  readonly resource: string; // the ref of the cause's resource; empty if unknown
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
  readonly sentence: string;
  readonly isMissing: boolean; // whether the object that is the cause does not exist
}

/** Reads the cause that the server sends with a verdict. null if it sends none. */
export function readCause({ cause }: Verdict): Cause | null {
  if (!isTree(cause)) return null;
  const [resource, kind, ns, name, sentence] = ["resource", "kind", "ns", "name", "sentence"].map((m) =>
    text(cause[m]),
  ) as [string, string, string, string, string];
  return name === "" && sentence === ""
    ? null
    : { resource, kind, ns, name, sentence, isMissing: cause["missing"] === true };
}

/** Returns the pod with the worst verdict as the cause. Returns null if no pod is failed, degraded or progressing. */
export function causeInPods(ns: string, pods: readonly OwnedPod[]): Cause | null {
  const [worst] = [...pods].sort(
    (a, b) => severities.indexOf(b.verdict.severity) - severities.indexOf(a.verdict.severity),
  );
  if (worst === undefined || !isCounted(worst.verdict.severity)) return null;
  const { reason, sentence } = worst.verdict;
  const similar = pods.filter((p) => isCounted(p.verdict.severity) && p.verdict.reason === reason).length;
  const others = reason === "" || similar < 2 ? "" : ` (${similar} pods: ${reason})`;
  return {
    resource: "core/v1/pods",
    kind: "Pod",
    ns,
    name: worst.name,
    sentence: sentence === "" ? "" : `${sentence}${others}`,
    isMissing: false,
  };
}

/**
 * Whether the reason or the sentence of a verdict states that a container crashed. Then the log of the previous
 * instance explains the problem.
 */
export const isCrash = (reason: string, sentence: string): boolean =>
  reason === "CrashLoopBackOff" || /CrashLoopBackOff|OOMKilled|last exit [1-9]/.test(sentence);
