package watch

import (
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/watchstatus"
)

type (
	// A WatchStatus describes what is watched.
	WatchStatus = watchstatus.Status //nolint:revive // A Status is the state of one resource.
	// WatchStatusEntry is the watch status of one resource, or only of those objects that a field selector selects.
	WatchStatusEntry = watchstatus.Entry //nolint:revive // See WatchStatus.
)

// WatchStatus returns the status of everything that is watched. It checks no permissions.
func (c *Cluster) WatchStatus() WatchStatus {
	status := c.watchStatusOf(c.sharedInformers())
	status.Limit, status.HealthScriptErrors = c.pool.Budget.Limit, c.health.ScriptErrors()
	return status
}

// WatchStatus returns the watch status of the resources of which the viewer may see all objects.
func (a *Access) WatchStatus(ctx context.Context) WatchStatus {
	if a.checker.Viewer.Program && a.checker.Viewer.Scope == nil {
		return a.cluster.WatchStatus()
	}
	var visible []*shared.Informer
	informers := slices.DeleteFunc(
		a.cluster.sharedInformers(), func(i *shared.Informer) bool { return i.Scope.Fields != "" },
	)
	for n, all := range a.checker.CanSeeAll(ctx, resourcesOf(informers)) {
		if all {
			visible = append(visible, informers[n])
		}
	}
	return a.cluster.watchStatusOf(visible)
}

// watchStatusOf returns the watch status of informers, with the kinds of their resources.
func (c *Cluster) watchStatusOf(informers []*shared.Informer) WatchStatus {
	status := watchstatus.Of(informers)
	resources, _ := c.catalog.Groups()
	for n := range status.Entries {
		if at := resource.Index(resources, status.Entries[n].Resource); at >= 0 {
			status.Entries[n].Kind = resources[at].Kind
		}
	}
	return status
}
