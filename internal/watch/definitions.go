package watch

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/wire"
)

// definitionScopes are the resources that define others, by their metadata
// alone: the definitions themselves are large.
func definitionScopes() []wire.Scope {
	return []wire.Scope{
		{Resource: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, Metadata: true},
		{Resource: schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}, Metadata: true},
	}
}

// A Follower is told when Resources gives something else. It is for one
// goroutine, and must be closed.
type Follower struct {
	cluster *Cluster
	release func() // Of what defines resources; nil where that could not be watched yet.
	raised  <-chan struct{}
}

// Follow begins to watch what defines resources, so that Resources is up to
// date. Where that may not be watched, discovery is asked now and then.
func (a *Access) Follow() *Follower {
	f := &Follower{cluster: a.cluster, raised: a.cluster.changed.next()}
	f.cluster.catalog.followers.Add(1)
	f.watch()
	return f
}

// watch watches what defines resources, once it may be: not before the cluster runs.
func (f *Follower) watch() {
	if f.release == nil {
		f.release, _ = f.cluster.watchDefinitions() // It is tried again.
	}
}

// watchDefinitions watches what defines resources until release: discovery is
// asked when it changes. An error says why nothing of it is watched.
func (c *Cluster) watchDefinitions() (release func(), err error) {
	var releases []func()
	release = func() {
		for _, one := range releases {
			one()
		}
	}
	for _, scope := range definitionScopes() {
		resource := &Resource{
			Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource,
			Verbs: []string{"list", "watch"},
		}
		_, one, err := c.pool.acquire(scope, resource, holder{})
		if err != nil {
			release()
			return nil, err
		}
		releases = append(releases, one)
	}
	return release, nil
}

// Close lets go of what is watched.
func (f *Follower) Close() {
	f.cluster.catalog.followers.Add(-1)
	if f.release != nil {
		f.release()
	}
}

// Next waits until discovery or a state may have changed, other is closed, or a time has
// come. It reports whether discovery or a state may have changed, or returns ctx's error.
func (f *Follower) Next(ctx context.Context, other <-chan struct{}, until time.Time) (bool, error) {
	f.watch() //nolint:contextcheck // An informer outlives who starts it.
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-f.raised:
		f.raised = f.cluster.changed.next()
		return true, nil
	case <-other:
		return false, nil
	case <-time.After(time.Until(until)):
		return false, nil
	}
}

// definition is what discovery tells of a resource now.
type definition struct {
	known    bool      // Discovery can tell.
	resource *Resource // Nil where it is not served.
	identity string    // Tells it from a later one of the same name; may be empty.
}

// served is what discovery tells of the resource of a scope.
func (c *Cluster) served(ctx context.Context, scope wire.Scope) definition {
	resources, gaps, err := c.catalog.all()
	if err != nil {
		return definition{}
	}
	gvr := scope.Resource
	at := slices.IndexFunc(resources, func(r Resource) bool { return r.gvr() == gvr })
	if at < 0 {
		if !scope.Metadata { // A cluster without definitions will have none.
			c.catalog.renew(ctx, 0) // It may come back.
		}
		unread := slices.ContainsFunc(gaps, func(g Gap) bool { return g.Group == gvr.Group && g.Version == gvr.Version })
		return definition{known: !unread}
	}
	now := definition{known: true, resource: &resources[at]}
	definitions := c.pool.find(definitionScopes()[0])
	if definitions == nil {
		return now
	}
	if o, ok, _ := definitions.Get(keyOf("", gvr.GroupResource().String())); ok {
		now.identity = o.UID()
	}
	return now
}

// namespacesWait is how long the list of namespaces may take.
const namespacesWait = 2 * time.Second

// namespaceResource is what there is in every cluster.
func namespaceResource() *Resource {
	return &Resource{Version: "v1", Resource: "namespaces", Verbs: []string{"list", "watch"}}
}

// namespaces returns the cluster's namespaces, and watches them until release. While
// they are not known, as where they may not be listed or do not fit, they are those
// that were known last, which need not be there any more; at first there are none.
func (c *Cluster) namespaces(ctx context.Context) (names []string, release func()) {
	resource := namespaceResource()
	i, release, err := c.pool.acquire(wire.Scope{Resource: resource.gvr()}, resource, holder{}) //nolint:contextcheck // An informer outlives who starts it.
	if err != nil {
		return nil, func() {}
	}
	i.wait(ctx, namespacesWait, func() bool { return i.present(nil).status.State != Syncing })
	if listing, now := i.objects(&filter{}, 0); now.synced {
		for _, o := range listing.objects {
			names = append(names, o.Name())
		}
		c.spaces.Store(&names)
		return names, release
	}
	if known := c.spaces.Load(); known != nil {
		names = *known
	}
	return names, release
}

// knownNamespaces are those in which a user may see something: the cluster's, and the
// kubeconfig's, which is all that is known where they may not be listed. It returns a
// *Problem that is Unavailable where they never were known.
func (c *Cluster) knownNamespaces(ctx context.Context) ([]string, error) {
	names, release := c.namespaces(ctx)
	release() // It is known for a while.
	if c.spaces.Load() == nil {
		why := Status{Reason: "they have not been asked for"}
		if i := c.pool.find(wire.Scope{Resource: namespaceResource().gvr()}); i != nil {
			why = i.present(nil).status
		}
		if !why.State.refused() {
			const brief = "Which namespaces there are is not known yet: name those that you want to see with ns."
			return nil, &Problem{Cause: Unavailable, Title: "Namespaces are not known", Detail: brief + " " + why.Reason, Brief: brief}
		}
	}
	if c.home != "" && !slices.Contains(names, c.home) {
		names = slices.Sorted(slices.Values(append(slices.Clone(names), c.home)))
	}
	return names, nil
}
