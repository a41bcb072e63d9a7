package permit

import (
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// CauseResources returns the built-in resources whose objects can be the source of a cause, sorted by ref.
func CauseResources() []resource.Resource {
	return []resource.Resource{
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicies"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
		{Group: "apps", Version: "v1", Resource: "daemonsets", Namespaced: true},
		{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true},
		{Group: "apps", Version: "v1", Resource: "replicasets", Namespaced: true},
		{Group: "apps", Version: "v1", Resource: "statefulsets", Namespaced: true},
		{Group: "batch", Version: "v1", Resource: "cronjobs", Namespaced: true},
		{Group: "batch", Version: "v1", Resource: "jobs", Namespaced: true},
		{Version: "v1", Resource: "configmaps", Namespaced: true},
		{Version: "v1", Resource: "events", Namespaced: true},
		{Version: "v1", Resource: "limitranges", Namespaced: true},
		{Version: "v1", Resource: "namespaces"},
		{Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "persistentvolumeclaims", Namespaced: true},
		{Version: "v1", Resource: "persistentvolumes"},
		{Version: "v1", Resource: "pods", Namespaced: true},
		{Version: "v1", Resource: "replicationcontrollers", Namespaced: true},
		{Version: "v1", Resource: "resourcequotas", Namespaced: true},
		{Version: "v1", Resource: "secrets", Namespaced: true},
		{Version: "v1", Resource: "serviceaccounts", Namespaced: true},
		{Version: "v1", Resource: "services", Namespaced: true},
		{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices", Namespaced: true},
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "flowschemas"},
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "prioritylevelconfigurations"},
		{Group: "networking.k8s.io", Version: "v1", Resource: "ingressclasses"},
		{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses", Namespaced: true},
		{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies", Namespaced: true},
		{Group: "networking.k8s.io", Version: "v1", Resource: "servicecidrs"},
		{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"},
		{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets", Namespaced: true},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings", Namespaced: true},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles", Namespaced: true},
		{Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses"},
		{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattachments"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattributesclasses"},
	}
}

// restrictCauses sets HidesCauses and CauseSources of the filter, so that verdicts show only causes that the viewer may
// read.
func (c *Checker) restrictCauses(ctx context.Context, f *query.Filter, ttl authz.DecisionTTL) error {
	if !c.deps.InheritsVerdicts || c.Viewer.Program && c.Viewer.Scope == nil {
		return nil
	}
	if c.Viewer.User != nil && c.Viewer.Scope == nil {
		everything := &resource.Resource{Group: "*", Resource: "*"}
		all, err := c.deps.Guard.Allowed(ctx, c.subject, authz.VerbList, everything, "", "", ttl)
		if err != nil {
			return Unavailable(err)
		}
		if all {
			return nil
		}
	}
	resources := CauseResources()
	sources := make([][]string, len(resources))
	_, err := CheckEach(ctx, indexes(resources), func(ctx context.Context, n int) (ok bool, err error) {
		sources[n], err = c.readableSources(ctx, &resources[n], f.Namespaces, ttl)
		return len(sources[n]) > 0, err
	})
	if err != nil {
		return Unavailable(err)
	}
	f.HidesCauses, f.CauseSources = true, slices.Sorted(slices.Values(slices.Concat(sources...)))
	return nil
}

func indexes[T any](values []T) []int {
	all := make([]int, len(values))
	for n := range all {
		all[n] = n
	}
	return all
}

// maxCauseNamespaces limits the namespaces in which permissions for causes are reviewed. If a query has more,
// none is reviewed, and causes are hidden.
const maxCauseNamespaces = 10

// readableSources returns where the viewer may read all objects of a resource, in the form of Filter.CauseSources.
// namespaces are the namespaces of the query; an empty list means all.
func (c *Checker) readableSources(
	ctx context.Context, r *resource.Resource, namespaces []string, ttl authz.DecisionTTL,
) ([]string, error) {
	isLimited := false
	if c.Viewer.Scope != nil {
		shared, ok := c.Viewer.Scope.sharedNamespaces(r.Ref())
		if !ok {
			return nil, nil
		}
		if isLimited = r.Namespaced && len(shared) > 0; isLimited {
			namespaces = shared
		}
	}
	all, err := c.Viewer.Program, error(nil)
	if c.Viewer.User != nil {
		all, err = c.deps.Guard.Allowed(ctx, c.subject, authz.VerbList, r, "", "", ttl)
	}
	switch {
	case err != nil:
		return nil, err
	case all && !isLimited:
		return []string{r.Ref()}, nil
	case !r.Namespaced || len(namespaces) > maxCauseNamespaces:
		return nil, nil
	}
	var sources []string
	for _, namespace := range namespaces {
		permitted := all
		if !permitted && c.Viewer.User != nil {
			permitted, err = c.deps.Guard.Allowed(ctx, c.subject, authz.VerbList, r, namespace, "", ttl)
			if err != nil {
				return nil, err
			}
		}
		if permitted {
			sources = append(sources, string(verdict.Source(r.Ref(), namespace)))
		}
	}
	return sources, nil
}

// sharedNamespaces returns the namespaces in which a share link includes all objects of a resource; empty means all
// namespaces. ok is false if there is no such namespace.
func (s *Scope) sharedNamespaces(ref string) (namespaces []string, ok bool) {
	for n := range s.Parts {
		p := &s.Parts[n]
		if p.Resource == ref && p.Labels == "" && p.Name == "" && p.Text == "" && p.Regarding == "" {
			return p.Namespaces, true
		}
	}
	return nil, false
}
