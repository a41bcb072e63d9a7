// What changes all the time and says nothing: heartbeats, and the counters that
// the API server keeps.

const beats = new Set(["lastProbeTime", "lastHeartbeatTime", "lastUpdateTime", "renewTime", "observedGeneration"]);
const counters = new Set(["metadata.resourceVersion", "metadata.generation"]);

/** Whether a change at this path alone is not worth a line. */
export const isNoise = (path: readonly string[]): boolean => beats.has(path.at(-1) ?? "") || counters.has(path.join("."));

/** What tells an object from its likeness, which two objects never have in common. */
export const identity: readonly (readonly string[])[] = [
  ["metadata", "uid"], ["metadata", "resourceVersion"], ["metadata", "generation"], ["metadata", "creationTimestamp"], ["metadata", "managedFields"], ["metadata", "selfLink"], ["status", "observedGeneration"],
];
