// What changes all the time and says nothing: heartbeats, and the counters that
// the API server keeps.

import type { PatchOp } from "./wire.ts";

const beats = new Set(["lastProbeTime", "lastHeartbeatTime", "lastUpdateTime", "renewTime", "observedGeneration"]);
const counters = new Set(["metadata.resourceVersion", "metadata.generation"]);

/** Whether a change at this path alone is not worth a line. */
export const isNoise = (path: readonly string[]): boolean => beats.has(path.at(-1) ?? "") || counters.has(path.join("."));

/** What tells an object from its likeness, which two objects never have in common. */
export const identity: readonly (readonly string[])[] = [
  ["metadata", "uid"], ["metadata", "resourceVersion"], ["metadata", "generation"], ["metadata", "creationTimestamp"], ["metadata", "managedFields"], ["metadata", "selfLink"], ["status", "observedGeneration"],
];

// An update that names another value of these is refused, or does nothing.
const served = new Set(["uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"]);

/** The operations of a patch that can be applied again: not those on what the API server alone sets. */
export const applicable = (patch: readonly PatchOp[]): PatchOp[] =>
  patch.filter(({ path }) => {
    const [, first, second = ""] = path.split("/");
    return first !== "metadata" || !served.has(second);
  });
