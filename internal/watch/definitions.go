package watch

import (
	"context"
	"slices"
	"time"

	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/informer/reconcile"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
	"glasshouse/internal/watch/stream"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/listwatch"
)

// definitionScopes returns the scopes of CustomResourceDefinitions and APIServices. Only metadata is watched, because
// complete objects are large.
func definitionScopes() []listwatch.Scope {
	return []listwatch.Scope{
		{
			Resource: schema.GroupVersionResource{
				Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
			},
			Metadata: true,
		},
		{
			Resource: schema.GroupVersionResource{
				Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
			},
			Metadata: true,
		},
	}
}

// A Follower waits for changes of the list of resources. Only one goroutine can use it, and must call Close.
type Follower struct {
	cluster *Cluster
	release func()
	changed <-chan struct{}
}

// Follow returns a Follower, with which the caller waits for changes of the list of resources.
func (a *Access) Follow() *Follower {
	f := &Follower{cluster: a.cluster, changed: a.cluster.changed.Next()}
	// If the program may not watch definitions, discovery runs at intervals.
	f.cluster.catalog.Follow()
	f.watch()
	return f
}

// watch starts to watch the definitions of resources. It does nothing before Cluster.Run, so Next calls it
// repeatedly.
func (f *Follower) watch() {
	if f.release == nil {
		f.release, _ = f.cluster.watchDefinitions()
	}
}

// watchDefinitions watches the definitions of resources until release is called. Each change starts a discovery.
func (c *Cluster) watchDefinitions() (release func(), err error) {
	var releases []func()
	release = func() {
		for _, releaseScope := range releases {
			releaseScope()
		}
	}
	for _, scope := range definitionScopes() {
		resource := &resource.Resource{
			Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource,
			Verbs: []string{"list", "watch"},
		}
		_, releaseScope, err := c.pool.Acquire(scope, resource, informer.Owner{})
		if err != nil {
			release()
			return nil, err
		}
		releases = append(releases, releaseScope)
	}
	return release, nil
}

// Close ends the Follower. If no other Follower is open, the definitions of resources are no longer watched.
func (f *Follower) Close() {
	f.cluster.catalog.Unfollow()
	if f.release != nil {
		f.release()
	}
}

// Next waits until resources or their state may have changed. It returns false at the interrupt or the deadline.
func (f *Follower) Next(ctx context.Context, interrupt <-chan struct{}, deadline time.Time) (bool, error) {
	f.watch() //nolint:contextcheck // An informer outlives the request that starts it.
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-f.changed:
		f.changed = f.cluster.changed.Next()
		return true, nil
	case <-interrupt:
		return false, nil
	case <-time.After(time.Until(deadline)):
		return false, nil
	}
}

func (c *Cluster) served(ctx context.Context, scope listwatch.Scope) reconcile.Definition {
	resources, groupErrors, err := c.catalog.All()
	if err != nil {
		return reconcile.Definition{}
	}
	gvr := scope.Resource
	at := slices.IndexFunc(resources, func(r resource.Resource) bool { return r.GVR() == gvr })
	if at < 0 {
		// An API server without definitions will not serve them later. Only scopes of definitions have Metadata set.
		if !scope.Metadata {
			c.catalog.RefreshIfOld(ctx, 0) // Request a discovery, because the resource can be served again later.
		}
		unread := slices.ContainsFunc(groupErrors, func(g resource.GroupError) bool {
			return g.Group == gvr.Group && g.Version == gvr.Version
		})
		return reconcile.Definition{Known: !unread}
	}
	now := reconcile.Definition{Known: true, Resource: &resources[at]}
	definitions := c.find(definitionScopes()[0])
	if definitions == nil {
		return now
	}
	if o, ok, _ := definitions.Get(informer.Key("", gvr.GroupResource().String())); ok {
		now.Identity = o.UID()
	}
	return now
}

const namespacesWait = 2 * time.Second

// namespaces returns the cluster's namespaces, or those of the last successful list. It watches them until release is
// called.
func (c *Cluster) namespaces(ctx context.Context) (names []string, release func()) {
	namespaces := resource.Namespaces()
	i, release, err := c.pool.Acquire( //nolint:contextcheck // An informer outlives the request that starts it.
		listwatch.Scope{Resource: namespaces.GVR()}, namespaces, informer.Owner{},
	)
	if err != nil {
		return nil, func() {}
	}
	i.Wait(ctx, namespacesWait, func() bool { return i.CurrentState(nil).Status.State != status.Syncing })
	if listing, now := stream.Shared(i).Objects(&query.Filter{}, 0); now.Synced {
		for _, o := range listing.Objects {
			names = append(names, o.Name())
		}
		c.lastNamespaces.Store(&names)
		return names, release
	}
	if cached := c.lastNamespaces.Load(); cached != nil {
		names = *cached
	}
	return names, release
}

// knownNamespaces returns the namespaces for which a user's permissions are reviewed: those of the cluster and of the
// kubeconfig.
func (c *Cluster) knownNamespaces(ctx context.Context) ([]string, error) {
	names, release := c.namespaces(ctx)
	release()
	if c.lastNamespaces.Load() == nil {
		current := status.Status{Reason: "The namespaces have not been listed yet."}
		if i := c.find(listwatch.Scope{Resource: resource.Namespaces().GVR()}); i != nil {
			current = i.CurrentState(nil).Status
		}
		if !current.State.IsRefused() {
			const brief = "The namespaces of the cluster are not known yet. Select namespaces with ns."
			return nil, &status.Problem{
				Cause: status.Unavailable, Title: "Namespaces unknown", Detail: brief + " " + current.Reason, PublicDetail: brief,
			}
		}
	}
	if c.defaultNamespace != "" && !slices.Contains(names, c.defaultNamespace) {
		names = slices.Sorted(slices.Values(append(slices.Clone(names), c.defaultNamespace)))
	}
	return names, nil
}
