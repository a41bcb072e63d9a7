// Fields whose changes are rarely of interest, such as times of lease renewals and resource versions.

import type { PatchOp } from "../net/wire.ts";

const times = new Set(["lastProbeTime", "lastHeartbeatTime", "lastUpdateTime", "renewTime", "observedGeneration"]);
const counters = new Set(["metadata.resourceVersion", "metadata.generation"]);

export const isVolatile = (path: readonly string[]): boolean =>
  times.has(path.at(-1) ?? "") || counters.has(path.join("."));

/** The compare page ignores these fields by default, because they differ between any two objects. */
export const identityFields: readonly (readonly string[])[] = [
  ["metadata", "uid"],
  ["metadata", "resourceVersion"],
  ["metadata", "generation"],
  ["metadata", "creationTimestamp"],
  ["metadata", "managedFields"],
  ["metadata", "selfLink"],
  ["status", "observedGeneration"],
];

// The API server rejects or ignores values that a client sends for these metadata fields.
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

/** Returns the part of a patch that a client can send: without operations on fields that only the API server sets. */
export const applicableOps = (patch: readonly PatchOp[]): PatchOp[] =>
  patch.filter(({ path }) => {
    const [, first, second = ""] = path.split("/");
    return first !== "metadata" || !serverSetFields.has(second);
  });
