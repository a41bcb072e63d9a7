package relations

import (
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// likelyKinds returns the resources whose objects are likely to be related to objects of the given resource. Each
// resource is written as its group and its plural, such as core/pods.
func likelyKinds(resource string) []string {
	policies := []string{"core/services", "policy/poddisruptionbudgets", "networking.k8s.io/networkpolicies"}
	templates := []string{
		"core/pods", "apps/deployments", "apps/statefulsets", "apps/daemonsets", "batch/cronjobs", "batch/jobs",
	}
	switch resource {
	case "core/pods":
		return append(policies, "discovery.k8s.io/endpointslices")
	case "apps/deployments":
		return append(policies, "apps/replicasets", "core/pods", "autoscaling/horizontalpodautoscalers")
	case "apps/replicasets", "core/replicationcontrollers":
		return append(policies, "core/pods", "autoscaling/horizontalpodautoscalers")
	case "apps/statefulsets":
		return append(
			policies, "core/pods", "apps/controllerrevisions", "core/persistentvolumeclaims",
			"autoscaling/horizontalpodautoscalers",
		)
	case "apps/daemonsets":
		return append(policies, "core/pods", "apps/controllerrevisions")
	case "batch/cronjobs":
		return []string{"batch/jobs", "core/pods"}
	case "batch/jobs", "networking.k8s.io/networkpolicies", "policy/poddisruptionbudgets",
		"discovery.k8s.io/endpointslices":
		return []string{"core/pods"}
	case "core/services":
		return []string{
			"core/pods", "discovery.k8s.io/endpointslices", "networking.k8s.io/ingresses", "apps/statefulsets",
			"apiregistration.k8s.io/apiservices",
			"admissionregistration.k8s.io/validatingwebhookconfigurations",
			"admissionregistration.k8s.io/mutatingwebhookconfigurations",
		}
	case "networking.k8s.io/ingressclasses":
		return []string{"networking.k8s.io/ingresses"}
	case "core/configmaps":
		return templates
	case "core/secrets":
		return append(templates, "networking.k8s.io/ingresses", "core/serviceaccounts")
	case "core/serviceaccounts":
		return append(
			templates, "rbac.authorization.k8s.io/rolebindings", "rbac.authorization.k8s.io/clusterrolebindings",
		)
	case "core/persistentvolumeclaims":
		return []string{"core/pods"}
	case "core/persistentvolumes":
		return []string{"core/persistentvolumeclaims", "storage.k8s.io/volumeattachments"}
	case "storage.k8s.io/storageclasses":
		return []string{"core/persistentvolumes", "core/persistentvolumeclaims"}
	case "core/nodes":
		return []string{"core/pods", "storage.k8s.io/csinodes", "storage.k8s.io/volumeattachments"}
	case "rbac.authorization.k8s.io/roles":
		return []string{"rbac.authorization.k8s.io/rolebindings"}
	case "rbac.authorization.k8s.io/clusterroles":
		return []string{"rbac.authorization.k8s.io/rolebindings", "rbac.authorization.k8s.io/clusterrolebindings"}
	case "scheduling.k8s.io/priorityclasses", "node.k8s.io/runtimeclasses":
		return []string{"core/pods"}
	}
	return nil
}

func selectsPods(resource string) bool {
	switch resource {
	case "core/services", "policy/poddisruptionbudgets", "networking.k8s.io/networkpolicies", "apps/deployments",
		"apps/replicasets",
		"apps/statefulsets", "apps/daemonsets", "batch/jobs", "core/replicationcontrollers":
		return true
	}
	return false
}

// operatorKinds returns the kinds to search for relations of a custom object: the kinds of its API group, and kinds
// that operators usually create.
func operatorKinds(r *resource.Resource, known []watch.ResourceStatus) (kinds []string) {
	if !resource.IsCustom(r.Group) {
		return nil
	}
	if r.Namespaced {
		kinds = []string{
			"apps/deployments", "apps/replicasets", "apps/statefulsets", "apps/daemonsets", "batch/jobs",
			"core/pods", "core/services", "core/configmaps",
			"core/secrets", "core/persistentvolumeclaims",
		}
	}
	for n := range known {
		if k := &known[n]; k.Preferred && k.Group == r.Group && k.Namespaced == r.Namespaced && k.Can("list") {
			kinds = append(kinds, nameOf(&k.Resource))
		}
	}
	return kinds
}

func nameOf(r *resource.Resource) string {
	if r.Group == "" {
		return "core/" + r.Resource
	}
	return r.Group + "/" + r.Resource
}
