package watch

import (
	"context"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/definitions"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// ResourceStatus is a resource that discovery found, with the status of its watch.
type ResourceStatus struct {
	resource.Resource

	// Status is the status of the watch if the viewer may see all objects. It is Forbidden if the viewer may list the
	// resource in no namespace. It is nil if the viewer may see only some objects, or if there is no watch.
	Status *status.Status
	Count  *int // The number of objects; nil if unknown.
}

// Resource returns the resource with a ref, such as "apps/v1/deployments".
func (a *Access) Resource(ctx context.Context, ref string) (*resource.Resource, error) {
	return a.checker.Resource(ctx, ref)
}

// VisibleResources are the resources that a viewer may discover, as the resource picker lists them.
type VisibleResources struct {
	access     *Access
	namespaces []string
}

// Resources returns the resources that the viewer may discover.
func (a *Access) Resources() VisibleResources { return VisibleResources{access: a} }

// In limits the numbers of objects to some namespaces, and to cluster-scoped objects; no namespaces mean all.
func (v VisibleResources) In(namespaces []string) VisibleResources {
	v.namespaces = namespaces
	return v
}

// List returns the resources that the viewer may discover, sorted by ref, and the API groups that discovery could not
// read. If the last discovery is too old, List waits for a new one, but at most the duration wait.
func (v VisibleResources) List(
	ctx context.Context, wait time.Duration,
) ([]ResourceStatus, []resource.GroupError, error) {
	a := v.access
	a.cluster.catalog.RefreshIfOld(ctx, wait)
	resources, groupErrors, err := a.cluster.catalog.All()
	if err != nil {
		return nil, nil, err
	}
	var statuses []ResourceStatus
	for n := range resources {
		if !a.checker.Viewer.CanDiscover(&resources[n]) {
			continue
		}
		statuses = append(statuses, ResourceStatus{Resource: resources[n]})
	}
	v.addStatuses(ctx, statuses)
	v.addForbidden(ctx, statuses, wait > 0)
	if a.checker.Viewer.Scope != nil {
		groupErrors = nil
	}
	return statuses, groupErrors, nil
}

// addStatuses sets the status and count of each watched resource of which the viewer is allowed to see all objects.
func (v VisibleResources) addStatuses(ctx context.Context, statuses []ResourceStatus) {
	var watched []*ResourceStatus
	var informers []*shared.Informer
	var resources []*resource.Resource
	for n := range statuses {
		if i := v.access.cluster.find(listwatch.Scope{Resource: statuses[n].GVR()}); i != nil {
			watched, informers, resources = append(watched, &statuses[n]), append(informers, i),
				append(resources, &statuses[n].Resource)
		}
	}
	for n, all := range v.access.checker.CanSeeAll(ctx, resources) {
		if all {
			now := informers[n].CurrentState(nil)
			watched[n].Status = &now.Status
			if found := v.numbers(ctx, informers[n]); found != nil {
				watched[n].Count = &found.Objects
			}
		}
	}
}

// addForbidden sets the status Forbidden for resources that the viewer may list in no namespace. It keeps a status that
// addStatuses has already set.
func (v VisibleResources) addForbidden(ctx context.Context, statuses []ResourceStatus, canReview bool) {
	var resources []*resource.Resource
	for n := range statuses {
		if statuses[n].Preferred && statuses[n].Can("list") {
			resources = append(resources, &statuses[n].Resource)
		}
	}
	forbidden := v.access.checker.Forbidden(ctx, resources, canReview)
	for n := range statuses {
		if reason, ok := forbidden[statuses[n].Ref()]; ok && statuses[n].Status == nil {
			statuses[n].Status = &status.Status{State: status.Forbidden, Reason: reason}
		}
	}
}

// isCounted reports whether the number of objects is known.
func isCounted(i *shared.Informer) bool {
	now := i.CurrentState(nil)
	return now.Synced && !now.Status.State.IsRefused()
}

// numbers returns the numbers of objects, or nil if they are unknown.
func (v VisibleResources) numbers(ctx context.Context, i *shared.Informer) *shared.Numbers {
	if !isCounted(i) {
		return nil
	}
	if found, ok := i.Numbers(ctx, v.namespaces); ok {
		return &found
	}
	return nil
}

// SharesKind reports whether another API group that the viewer sees has a resource of the same kind, such as Event.
func (v VisibleResources) SharesKind(r *resource.Resource) bool {
	viewer := &v.access.checker.Viewer
	resources, _, _ := v.access.cluster.catalog.All() // Ignore the error: before discovery, no resource is known.
	return slices.ContainsFunc(resources, func(other resource.Resource) bool {
		return other.Kind == r.Kind && other.Group != r.Group && other.Can("list") && viewer.CanDiscover(&other)
	})
}

// A Follower waits for changes of the list of resources. It is not safe for concurrent use. Call Close after use.
type Follower = definitions.Follower

// Follow returns a Follower, with which the caller waits for changes of the list of resources.
func (v VisibleResources) Follow() *Follower { return v.access.cluster.definitions.Follow() }

// Counts returns the number of objects of each watched resource, and the numbers of those with problems, both by ref.
// It omits resources of which the viewer may not see all objects. The result problems also omits resources without a
// failed or degraded object.
func (v VisibleResources) Counts(ctx context.Context) (counts map[string]int, problems map[string]verdict.Counts) {
	informers := slices.DeleteFunc(v.access.cluster.sharedInformers(), func(i *shared.Informer) bool {
		return i.Scope != (listwatch.Scope{Resource: i.Scope.Resource})
	})
	counts, problems = make(map[string]int), make(map[string]verdict.Counts)
	for n, all := range v.access.checker.CanSeeAll(ctx, resourcesOf(informers)) {
		if !all {
			continue
		}
		found := v.numbers(ctx, informers[n])
		if found == nil {
			continue
		}
		ref := informers[n].Resource().Ref()
		counts[ref] = found.Objects
		if found.Problems != (verdict.Counts{}) {
			problems[ref] = found.Problems
		}
	}
	return counts, problems
}
