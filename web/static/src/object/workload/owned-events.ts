// Finds the events of a workload and of the objects that it owns, by the object that each event names.

export interface EventScope {
  readonly kind: string; // kind of the workload
  readonly name: string;
  /** The kind of the workload's ReplicaSets or Jobs, which own its pods. The next member contains their names. */
  readonly intermediateKind: string;
  readonly intermediates: readonly string[];
  readonly pods: ReadonlySet<string>;
  readonly ownsPods: boolean;
}

const intermediateKinds: Readonly<Record<string, string>> = {
  "apps/v1/deployments": "replicaset",
  "batch/v1/cronjobs": "job",
};

export const intermediateKindOf = (ref: string): string => intermediateKinds[ref] ?? "";

const scopeTexts: Readonly<Record<string, string>> = {
  "apps/v1/deployments": "this object, its ReplicaSets or its pods",
  "batch/v1/cronjobs": "this object, its Jobs or its pods",
};

/** Returns a text that names the objects whose events a workload's events tab shows. */
export const scopeText = (ref: string): string => scopeTexts[ref] ?? "this object or its pods";

/**
 * Reports whether an event regards the workload or an object that it owns. The parameter `object` is the cell of the
 * event's row, such as "pod/web-1". Pods that no longer exist are recognized by their names.
 */
export function isOwnedEvent(object: string, scope: EventScope): boolean {
  const slash = object.indexOf("/");
  const [kind, name] = [object.slice(0, slash).toLowerCase(), object.slice(slash + 1)];
  if (kind === scope.kind.toLowerCase() && name === scope.name) return true;
  if (kind === scope.intermediateKind) return scope.intermediates.includes(name);
  if (kind !== "pod") return false;
  if (scope.pods.has(name)) return true;
  if (!scope.ownsPods) return false;
  const parents = scope.intermediateKind === "" ? [scope.name] : scope.intermediates;
  return parents.some(
    (parent) => name.startsWith(`${parent}-`) && /^([a-z0-9]{5}|\d+)$/.test(name.slice(parent.length + 1)),
  );
}

const refs: Readonly<Record<string, string>> = {
  pod: "core/v1/pods",
  replicaset: "apps/v1/replicasets",
  job: "batch/v1/jobs",
};

/** Returns the ref and the name of the object that an event names. The ref is empty if its resource is unknown. */
export function eventTarget(object: string): { readonly ref: string; readonly name: string } {
  const slash = object.indexOf("/");
  return { ref: refs[object.slice(0, Math.max(0, slash)).toLowerCase()] ?? "", name: object.slice(slash + 1) };
}
