// Which pods belong to a workload, and through which objects.

import { number, text, trees, valueAt } from "../facts/read.ts";
import { labelSelector } from "./selector.ts";

/**
 * How to find the objects between a workload and its pods (ReplicaSets or Jobs), or the ControllerRevisions of a
 * workload.
 */
interface Intermediate {
  readonly ref: string;
  readonly labels: string; // label selector; empty selects all objects in the namespace
  readonly namePrefix: string;
}

export interface PodQuery {
  /** The label selector of the pods. Empty for a CronJob, whose pods are selected by the names of its Jobs. */
  readonly labels: string;
  readonly intermediate: Intermediate | null;
  /** Whether only pods that the workload owns count. False for a Service, which owns no pods. */
  readonly ownsPods: boolean;
}

/**
 * Returns how to find the pods of an object, or null if it selects none. The parameter `ref` is the ref of the object's
 * resource.
 */
export function podQueryOf(ref: string, object: unknown): PodQuery | null {
  const labels = labelSelector(valueAt(object, "spec", "selector"));
  const query = (intermediateRef: string): PodQuery | null =>
    labels === ""
      ? null
      : {
          labels,
          intermediate: intermediateRef === "" ? null : { ref: intermediateRef, labels, namePrefix: "" },
          ownsPods: true,
        };
  switch (ref) {
    case "apps/v1/deployments":
      return query("apps/v1/replicasets");
    case "apps/v1/statefulsets":
    case "apps/v1/daemonsets":
      return query("apps/v1/controllerrevisions");
    case "apps/v1/replicasets":
    case "core/v1/replicationcontrollers":
    case "batch/v1/jobs":
      return query("");
    case "core/v1/services":
      return labels === "" ? null : { labels, intermediate: null, ownsPods: false };
    case "batch/v1/cronjobs":
      return {
        labels: "",
        intermediate: { ref: "batch/v1/jobs", labels: "", namePrefix: `${text(valueAt(object, "metadata", "name"))}-` },
        ownsPods: true,
      };
  }
  return null;
}

/** Returns the label selector of the pods of several Jobs. Empty if there are no Jobs. */
export const podsOfJobs = (jobs: readonly string[]): string =>
  jobs.length === 0 ? "" : `batch.kubernetes.io/job-name in (${jobs.join(",")})`;

interface Controller {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export function controllerOf(object: unknown): Controller | null {
  const owner = trees(valueAt(object, "metadata", "ownerReferences")).find((r) => r["controller"] === true);
  return owner === undefined ? null : { kind: text(owner["kind"]), name: text(owner["name"]), uid: text(owner["uid"]) };
}

export const uidOf = (object: unknown): string => text(valueAt(object, "metadata", "uid"));

/**
 * Reports whether a workload owns a pod that its selector matches: directly, or through the pod's controller (a
 * ReplicaSet or a Job). `read` returns this controller. If the controller is not loaded, the pod counts as owned.
 */
export function ownsPod(uid: string, pod: unknown, read: (controller: Controller) => unknown): boolean {
  const owner = controllerOf(pod);
  if (owner === null) return false;
  if (owner.uid === uid) return true;
  const between = read(owner);
  if (between === null || between === undefined) return owner.kind === "ReplicaSet" || owner.kind === "Job";
  return uidOf(between) === owner.uid && controllerOf(between)?.uid === uid;
}

/** Returns the revision number of a ReplicaSet or ControllerRevision. null if unknown. */
export function revisionOf(object: unknown): number | null {
  const direct = number(valueAt(object, "revision"));
  if (direct !== null) return direct;
  const annotated = text(valueAt(object, "metadata", "annotations", "deployment.kubernetes.io/revision"));
  return /^\d+$/.test(annotated) ? Number(annotated) : null;
}
