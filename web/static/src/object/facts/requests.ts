// Computes the resources that pods request of a node, as the scheduler does.

import { quantity } from "./quantity.ts";
import { members, text, trees, valueAt } from "./read.ts";

/** Amounts in base units, such as cores and bytes, by resource. */
export type Amounts = ReadonlyMap<string, number>;

type AmountKind = "requests" | "limits";

/** Whether a pod has ended, so that its resources are free again. */
export const hasEnded = (pod: unknown): boolean => /^(Succeeded|Failed)$/.test(text(valueAt(pod, "status", "phase")));

/**
 * Returns the resource requests or limits of a pod: the sum of the main containers, or the maximum while the init
 * containers run one after the other, whichever is larger. Sidecars (init containers that keep running) count in both.
 * A value for the complete pod (spec.resources) replaces the computed amount.
 */
export function podAmounts(pod: unknown, kind: AmountKind): Amounts {
  const spec = valueAt(pod, "spec");
  const running = new Map<string, number>(); // sums over the sidecars; the main containers are added below
  const initial = new Map<string, number>(); // the largest sum at any time while init containers run
  for (const container of trees(valueAt(spec, "initContainers"))) {
    const own = amountsOf(valueAt(container, "resources", kind));
    const isSidecar = valueAt(container, "restartPolicy") === "Always";
    for (const [name, n] of own) {
      const sum = n + (running.get(name) ?? 0);
      initial.set(name, Math.max(initial.get(name) ?? 0, sum));
      if (isSidecar) running.set(name, sum);
    }
  }
  for (const container of trees(valueAt(spec, "containers")))
    addAmounts(running, amountsOf(valueAt(container, "resources", kind)));
  for (const [name, n] of initial) running.set(name, Math.max(running.get(name) ?? 0, n));
  for (const [name, n] of amountsOf(valueAt(spec, "resources", kind))) running.set(name, n);
  const overhead = amountsOf(valueAt(spec, "overhead"));
  // Add the pod's overhead to a limit only if the containers have this limit. Otherwise, the pod's use is unlimited,
  // and the overhead alone would seem to be a limit.
  for (const [name, n] of overhead)
    if (kind === "requests" || running.has(name)) running.set(name, n + (running.get(name) ?? 0));
  return running;
}

/** Returns the total requests or limits of the pods that have not ended. */
export function sumAmounts(pods: readonly unknown[], kind: AmountKind): Amounts {
  const sums = new Map<string, number>();
  for (const pod of pods) if (!hasEnded(pod)) addAmounts(sums, podAmounts(pod, kind));
  return sums;
}

function addAmounts(sums: Map<string, number>, more: Amounts): void {
  for (const [name, n] of more) sums.set(name, n + (sums.get(name) ?? 0));
}

const amountsOf = (v: unknown): Amounts =>
  new Map(members(v).flatMap(([name, amount]) => [[name, quantity(amount) ?? 0] as const]));
