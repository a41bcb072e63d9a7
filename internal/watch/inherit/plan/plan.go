// Package plan selects the resources that the program reads to determine inherited verdicts.
package plan

import (
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// maxCustomKinds limits the kinds of custom resources that are watched.
const maxCustomKinds = 500

// firstResources are watched in this order: the resources that most often explain a problem are first.
var firstResources = []string{ //nolint:gochecknoglobals // Constant.
	"core/v1/pods", "core/v1/nodes", "apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets",
	"apps/v1/daemonsets", "core/v1/events", "batch/v1/jobs", "batch/v1/cronjobs", "core/v1/services",
	"networking.k8s.io/v1/ingresses", "core/v1/persistentvolumeclaims", "core/v1/persistentvolumes",
	"autoscaling/v2/horizontalpodautoscalers", "core/v1/namespaces", "storage.k8s.io/v1/storageclasses",
	"networking.k8s.io/v1/ingressclasses", "networking.k8s.io/v1/networkpolicies", "policy/v1/poddisruptionbudgets",
	"apiregistration.k8s.io/v1/apiservices", "core/v1/resourcequotas", "core/v1/limitranges",
	"admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
	"admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "core/v1/replicationcontrollers",
	"rbac.authorization.k8s.io/v1/rolebindings", "rbac.authorization.k8s.io/v1/clusterrolebindings",
	"storage.k8s.io/v1/volumeattachments", "storage.k8s.io/v1/csidrivers", "storage.k8s.io/v1/csinodes",
	"networking.k8s.io/v1/servicecidrs", "apiextensions.k8s.io/v1/customresourcedefinitions",
	"flowcontrol.apiserver.k8s.io/v1/flowschemas", "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
	"certificates.k8s.io/v1/certificatesigningrequests",
	"admissionregistration.k8s.io/v1/validatingadmissionpolicies",
	"admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
	"admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
}

// onlyNames are resources whose objects are needed only to check whether they exist. Their content is not read.
var onlyNames = []string{ //nolint:gochecknoglobals // Constant.
	"core/v1/configmaps", "core/v1/secrets", "core/v1/serviceaccounts", "rbac.authorization.k8s.io/v1/roles",
	"rbac.authorization.k8s.io/v1/clusterroles", "scheduling.k8s.io/v1/priorityclasses",
	"node.k8s.io/v1/runtimeclasses",
	"resource.k8s.io/v1/deviceclasses", "resource.k8s.io/v1/resourceclaims", "resource.k8s.io/v1/resourceclaimtemplates",
	"storage.k8s.io/v1/volumeattributesclasses",
	"admissionregistration.k8s.io/v1/mutatingadmissionpolicies", "certificates.k8s.io/v1beta1/clustertrustbundles",
}

const (
	endpointSlices = "discovery.k8s.io/v1/endpointslices"
	// notFromSelector selects the EndpointSlices that Kubernetes does not derive from the selector of a Service. Only
	// these are read. The derived ones change with each pod, and contain nothing that the pods do not show.
	notFromSelector = "endpointslice.kubernetes.io/managed-by!=endpointslice-controller.k8s.io"
)

// Of returns the resources that an inherit.Engine watches, in the order in which it starts them. omitted are the custom
// resources beyond maxCustomKinds. The results point into the slice resources.
func Of(resources []resource.Resource) (planned, omitted []*resource.Resource) {
	byRef := make(map[string]*resource.Resource, len(resources))
	for n := range resources {
		byRef[resources[n].Ref()] = &resources[n]
	}
	for _, ref := range slices.Concat(firstResources, onlyNames, []string{endpointSlices}) {
		if r := byRef[ref]; r != nil && isWatchable(r) {
			planned = append(planned, r)
		}
	}
	custom := 0
	for n := range resources {
		r := &resources[n]
		if !r.Preferred || !isWatchable(r) || !resource.IsCustom(r.Group) {
			continue
		}
		if custom++; custom <= maxCustomKinds {
			planned = append(planned, r)
		} else {
			omitted = append(omitted, r)
		}
	}
	return planned, omitted
}

// Covers reports whether objects of a resource can inherit verdicts.
func Covers(r *resource.Resource) bool {
	return resource.IsCustom(r.Group) || slices.ContainsFunc(firstResources, func(ref string) bool {
		group, _, _ := strings.Cut(ref, "/")
		_, name, _ := strings.Cut(ref[len(group)+1:], "/")
		return (group == r.Group || group == "core" && r.Group == "") && name == r.Resource
	})
}

func isWatchable(r *resource.Resource) bool { return r.Can("list") && r.Can("watch") }

// ScopeOf returns the scope of the informer with which an inherit.Engine watches a resource.
func ScopeOf(r *resource.Resource) listwatch.Scope {
	scope := listwatch.Scope{Resource: r.GVR(), Metadata: slices.Contains(onlyNames, r.Ref())}
	if r.Ref() == endpointSlices {
		scope.Labels = notFromSelector
	}
	return scope
}
