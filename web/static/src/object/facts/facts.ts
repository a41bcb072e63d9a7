import { binding, role } from "./access.ts";
import { cronJob, job } from "./job.ts";
import { autoscaler, definition, namespace } from "./cluster.ts";
import { configMap, secret } from "./config.ts";
import { event } from "./event.ts";
import type { Section } from "./fact.ts";
import { endpointSlice, ingress, service } from "./network.ts";
import { node } from "./node.ts";
import { genericFacts } from "./generic.ts";
import { pod } from "./pod.ts";
import { disruptionBudget, limitRange, resourceQuota } from "./policy.ts";
import { valueAt, text } from "./read.ts";
import { claim, volume } from "./storage.ts";
import { daemonSet, deployment, replicaSet, statefulSet } from "./workload.ts";

type FactExtractor = (object: unknown) => (Section | null)[];

// The keys are kinds with their API group, because kinds of two groups can have the same name (Service of Knative).
const kinds: Readonly<Record<string, FactExtractor>> = {
  "/Pod": pod,
  "/Service": service,
  "/ConfigMap": configMap,
  "/Secret": secret,
  "/Node": node,
  "/Namespace": namespace,
  "/PersistentVolumeClaim": claim,
  "/PersistentVolume": volume,
  "/Event": event,
  "/ResourceQuota": resourceQuota,
  "/LimitRange": limitRange,
  "/ReplicationController": replicaSet,
  "apps/Deployment": deployment,
  "apps/StatefulSet": statefulSet,
  "apps/DaemonSet": daemonSet,
  "apps/ReplicaSet": replicaSet,
  "batch/Job": job,
  "batch/CronJob": cronJob,
  "networking.k8s.io/Ingress": ingress,
  "discovery.k8s.io/EndpointSlice": endpointSlice,
  "events.k8s.io/Event": event,
  "policy/PodDisruptionBudget": disruptionBudget,
  "rbac.authorization.k8s.io/Role": role,
  "rbac.authorization.k8s.io/ClusterRole": role,
  "rbac.authorization.k8s.io/RoleBinding": binding,
  "rbac.authorization.k8s.io/ClusterRoleBinding": binding,
  "autoscaling/HorizontalPodAutoscaler": autoscaler,
  "apiextensions.k8s.io/CustomResourceDefinition": definition,
};

export function factsOf(object: unknown): Section[] {
  const version = text(valueAt(object, "apiVersion"));
  const group = version.includes("/") ? version.slice(0, version.indexOf("/")) : "";
  const name = `${group}/${text(valueAt(object, "kind"))}`;
  const extract = (Object.hasOwn(kinds, name) ? kinds[name] : undefined) ?? genericFacts;
  const all = extract(object).filter((s) => s !== null);
  const seen = new Set<string>();
  // Sections can be named after fields of the object, so two sections can have the same key. Make the keys unique.
  return all.map((s, i) => (seen.size === seen.add(s.key).size ? { ...s, key: `${s.key}#${i}` } : s));
}
