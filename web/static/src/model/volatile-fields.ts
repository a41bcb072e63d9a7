// Classifies fields that change often without meaning to people, such as heartbeats and counters of the API server.

import type { PatchOp } from "../net/wire.ts";

const heartbeats = new Set(["lastProbeTime", "lastHeartbeatTime", "lastUpdateTime", "renewTime", "observedGeneration"]);
const counters = new Set(["metadata.resourceVersion", "metadata.generation"]);

/** Reports whether a change of only the field at this path is minor, so that it gets no line of its own. */
export const isVolatile = (path: readonly string[]): boolean =>
  heartbeats.has(path.at(-1) ?? "") || counters.has(path.join("."));

/** The fields that identify an object. They always differ between two objects. */
export const identityFields: readonly (readonly string[])[] = [
  ["metadata", "uid"],
  ["metadata", "resourceVersion"],
  ["metadata", "generation"],
  ["metadata", "creationTimestamp"],
  ["metadata", "managedFields"],
  ["metadata", "selfLink"],
  ["status", "observedGeneration"],
];

// Fields that only the API server sets. It rejects or ignores values from clients.
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
 * Returns the operations of a patch that a client is able to apply. Operations on fields that only the API
 * server sets are left out.
 */
export const applicableOps = (patch: readonly PatchOp[]): PatchOp[] =>
  patch.filter(({ path }) => {
    const [, first, second = ""] = path.split("/");
    return first !== "metadata" || !serverSetFields.has(second);
  });
