package permit

import (
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// causeResources are the resources whose objects most often are the cause of a verdict, sorted by ref.
var causeResources = []resource.Resource{ //nolint:gochecknoglobals // Constant.
	{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true},
	{Group: "batch", Version: "v1", Resource: "jobs", Namespaced: true},
	{Version: "v1", Resource: "configmaps", Namespaced: true},
	{Version: "v1", Resource: "nodes"},
	{Version: "v1", Resource: "persistentvolumeclaims", Namespaced: true},
	{Version: "v1", Resource: "pods", Namespaced: true},
	{Version: "v1", Resource: "resourcequotas", Namespaced: true},
	{Version: "v1", Resource: "secrets", Namespaced: true},
	{Version: "v1", Resource: "serviceaccounts", Namespaced: true},
	{Version: "v1", Resource: "services", Namespaced: true},
	{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
}

// restrictCauses sets which causes of verdicts the viewer may read about, in the namespaces of the filter.
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
	readable, err := CheckEach(ctx, causeResources, func(ctx context.Context, r resource.Resource) (bool, error) {
		return c.readsAll(ctx, &r, f.Namespaces, ttl)
	})
	if err != nil {
		return Unavailable(err)
	}
	f.HidesCauses = true
	for n := range causeResources {
		if readable[n] {
			f.CauseResources = append(f.CauseResources, causeResources[n].Ref())
		}
	}
	slices.Sort(f.CauseResources)
	return nil
}

// readsAll reports whether the viewer may read all objects of a resource in the namespaces. An empty list means all.
func (c *Checker) readsAll(
	ctx context.Context, r *resource.Resource, namespaces []string, ttl authz.DecisionTTL,
) (bool, error) {
	if !r.Namespaced {
		namespaces = nil
	}
	if c.Viewer.Scope != nil && !c.Viewer.Scope.sharesAll(r.Ref(), namespaces) {
		return false, nil
	}
	if c.Viewer.User == nil {
		return c.Viewer.Program, nil
	}
	all, err := c.deps.Guard.Allowed(ctx, c.subject, authz.VerbList, r, "", "", ttl)
	if err != nil || all || len(namespaces) == 0 {
		return all, err
	}
	for _, namespace := range namespaces {
		if all, err = c.deps.Guard.Allowed(ctx, c.subject, authz.VerbList, r, namespace, "", ttl); err != nil || !all {
			return false, err
		}
	}
	return true, nil
}

// sharesAll reports whether a share link includes all objects of a resource in the namespaces.
func (s *Scope) sharesAll(ref string, namespaces []string) bool {
	return slices.ContainsFunc(s.Parts, func(p Part) bool {
		if p.Resource != ref || p.Labels != "" || p.Name != "" || p.Text != "" || p.Regarding != "" {
			return false
		}
		if len(p.Namespaces) == 0 {
			return true
		}
		return len(namespaces) > 0 && !slices.ContainsFunc(namespaces, func(ns string) bool {
			return !slices.Contains(p.Namespaces, ns)
		})
	})
}
