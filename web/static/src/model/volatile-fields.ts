// Classifies fields that change all the time without meaning to people: heartbeats, and counters of the API server.

import type { PatchOp } from "../net/wire.ts";

const heartbeats = new Set(["lastProbeTime", "lastHeartbeatTime", "lastUpdateTime", "renewTime", "observedGeneration"]);
const counters = new Set(["metadata.resourceVersion", "metadata.generation"]);

/** Whether a change of only the field at this path is so irrelevant that it gets no line of its own. */
export const isVolatile = (path: readonly string[]): boolean =>
  heartbeats.has(path.at(-1) ?? "") || counters.has(path.join("."));

/** The fields that identify an object. Two objects never have them in common. */
export const identityFields: readonly (readonly string[])[] = [
  ["metadata", "uid"],
  ["metadata", "resourceVersion"],
  ["metadata", "generation"],
  ["metadata", "creationTimestamp"],
  ["metadata", "managedFields"],
  ["metadata", "selfLink"],
  ["status", "observedGeneration"],
];

// Fields that only the API server sets. It rejects or ignores other values.
const serverSetFields = new Set([
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
]);

/**
 * Returns the operations of a patch that can be applied again, without those on fields that only the API server sets.
 */
export const applicableOps = (patch: readonly PatchOp[]): PatchOp[] =>
  patch.filter(({ path }) => {
    const [, first, second = ""] = path.split("/");
    return first !== "metadata" || !serverSetFields.has(second);
  });
