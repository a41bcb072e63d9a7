// Links to the documentation of the built-in kinds. An empty list shows such a link.

import { h } from "../ui/dom.ts";

const base = "https://kubernetes.io/docs/";

// The page of each built-in resource, by API group and plural name.
const pages: Readonly<Record<string, string>> = {
  "core/configmaps": "concepts/configuration/configmap/",
  "core/endpoints": "concepts/services-networking/service/#endpoints",
  "core/events": "reference/kubernetes-api/cluster-resources/event-v1/",
  "core/limitranges": "concepts/policy/limit-range/",
  "core/namespaces": "concepts/overview/working-with-objects/namespaces/",
  "core/nodes": "concepts/architecture/nodes/",
  "core/persistentvolumeclaims": "concepts/storage/persistent-volumes/",
  "core/persistentvolumes": "concepts/storage/persistent-volumes/",
  "core/pods": "concepts/workloads/pods/",
  "core/podtemplates": "concepts/workloads/pods/#pod-templates",
  "core/replicationcontrollers": "concepts/workloads/controllers/replicationcontroller/",
  "core/resourcequotas": "concepts/policy/resource-quotas/",
  "core/secrets": "concepts/configuration/secret/",
  "core/serviceaccounts": "concepts/security/service-accounts/",
  "core/services": "concepts/services-networking/service/",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations":
    "reference/access-authn-authz/extensible-admission-controllers/",
  "admissionregistration.k8s.io/validatingadmissionpolicies":
    "reference/access-authn-authz/validating-admission-policy/",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings":
    "reference/access-authn-authz/validating-admission-policy/",
  "admissionregistration.k8s.io/validatingwebhookconfigurations":
    "reference/access-authn-authz/extensible-admission-controllers/",
  "apiextensions.k8s.io/customresourcedefinitions": "concepts/extend-kubernetes/api-extension/custom-resources/",
  "apiregistration.k8s.io/apiservices": "concepts/extend-kubernetes/api-extension/apiserver-aggregation/",
  "apps/controllerrevisions": "concepts/workloads/controllers/statefulset/",
  "apps/daemonsets": "concepts/workloads/controllers/daemonset/",
  "apps/deployments": "concepts/workloads/controllers/deployment/",
  "apps/replicasets": "concepts/workloads/controllers/replicaset/",
  "apps/statefulsets": "concepts/workloads/controllers/statefulset/",
  "autoscaling/horizontalpodautoscalers": "tasks/run-application/horizontal-pod-autoscale/",
  "batch/cronjobs": "concepts/workloads/controllers/cron-jobs/",
  "batch/jobs": "concepts/workloads/controllers/job/",
  "certificates.k8s.io/certificatesigningrequests": "reference/access-authn-authz/certificate-signing-requests/",
  "coordination.k8s.io/leases": "concepts/architecture/leases/",
  "discovery.k8s.io/endpointslices": "concepts/services-networking/endpoint-slices/",
  "events.k8s.io/events": "reference/kubernetes-api/cluster-resources/event-v1/",
  "flowcontrol.apiserver.k8s.io/flowschemas": "concepts/cluster-administration/flow-control/",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": "concepts/cluster-administration/flow-control/",
  "networking.k8s.io/ingressclasses": "concepts/services-networking/ingress/#ingress-class",
  "networking.k8s.io/ingresses": "concepts/services-networking/ingress/",
  "networking.k8s.io/ipaddresses": "tasks/network/extend-service-ip-ranges/",
  "networking.k8s.io/networkpolicies": "concepts/services-networking/network-policies/",
  "networking.k8s.io/servicecidrs": "tasks/network/extend-service-ip-ranges/",
  "node.k8s.io/runtimeclasses": "concepts/containers/runtime-class/",
  "policy/poddisruptionbudgets": "tasks/run-application/configure-pdb/",
  "rbac.authorization.k8s.io/clusterrolebindings": "reference/access-authn-authz/rbac/",
  "rbac.authorization.k8s.io/clusterroles": "reference/access-authn-authz/rbac/",
  "rbac.authorization.k8s.io/rolebindings": "reference/access-authn-authz/rbac/",
  "rbac.authorization.k8s.io/roles": "reference/access-authn-authz/rbac/",
  "resource.k8s.io/deviceclasses": "concepts/scheduling-eviction/dynamic-resource-allocation/",
  "resource.k8s.io/resourceclaims": "concepts/scheduling-eviction/dynamic-resource-allocation/",
  "resource.k8s.io/resourceclaimtemplates": "concepts/scheduling-eviction/dynamic-resource-allocation/",
  "resource.k8s.io/resourceslices": "concepts/scheduling-eviction/dynamic-resource-allocation/",
  "scheduling.k8s.io/priorityclasses": "concepts/scheduling-eviction/pod-priority-preemption/",
  "storage.k8s.io/csidrivers": "concepts/storage/volumes/#csi",
  "storage.k8s.io/csinodes": "concepts/storage/volumes/#csi",
  "storage.k8s.io/csistoragecapacities": "concepts/storage/storage-capacity/",
  "storage.k8s.io/storageclasses": "concepts/storage/storage-classes/",
  "storage.k8s.io/volumeattachments": "concepts/storage/volumes/#csi",
  "storage.k8s.io/volumeattributesclasses": "concepts/storage/volume-attributes-classes/",
};

/** Returns the URL of the documentation of a resource, or null for a custom resource. */
export function docsHref(ref: string): string | null {
  const [group = "", , resource = ""] = ref.split("/");
  const page = pages[`${group}/${resource}`];
  return page === undefined ? null : `${base}${page}`;
}

/** Adds the link to the note of an empty list. The parameter `resource` is the plural of the kind. */
export function showDocsLink(note: Element, ref: string, resource: string): void {
  const href = docsHref(ref);
  // Since the call, the list can have got rows or another note.
  if (href === null || note.querySelector("a") !== null || note.firstElementChild?.textContent !== `No ${resource}`)
    return;
  // Without a referrer, the linked site does not learn the address of this page.
  const link = h("a", { href, target: "_blank", rel: "noopener noreferrer" }, `Documentation of ${resource}`);
  note.lastElementChild?.append(" ", link);
}
