// Package definitions watches the objects that define resources: CustomResourceDefinitions and APIServices.
package definitions

import (
	"context"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/catalog"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/reconcile"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Definitions watches CustomResourceDefinitions and APIServices while at least one caller of Watch needs them.
type Definitions struct {
	Catalog *catalog.Catalog
	Pool    *pool.Pool
	// Changed is signaled after a change of the list of served resources, or of an informer's state.
	Changed *signal.Signal
}

// Scopes returns the scopes of CustomResourceDefinitions and APIServices. Only the metadata of these objects is
// watched, because the complete objects are large.
func Scopes() []listwatch.Scope {
	crds := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	return []listwatch.Scope{{Resource: crds, Metadata: true}, {Resource: services, Metadata: true}}
}

// Watch watches CustomResourceDefinitions and APIServices until release is called. Each change of them starts a
// discovery.
func (d *Definitions) Watch() (release func(), err error) {
	var releases []func()
	release = func() {
		for _, releaseScope := range releases {
			releaseScope()
		}
	}
	for _, scope := range Scopes() {
		resource := &resource.Resource{
			Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource,
			Verbs: []string{"list", "watch"},
		}
		_, releaseScope, err := d.Pool.Acquire(scope, resource, informer.Owner{})
		if err != nil {
			release()
			return nil, err
		}
		releases = append(releases, releaseScope)
	}
	return release, nil
}

// Served returns what the newest discovery reports about the resource of a scope.
func (d *Definitions) Served(ctx context.Context, scope listwatch.Scope) reconcile.Definition {
	resources, groupErrors, err := d.Catalog.All()
	if err != nil {
		return reconcile.Definition{}
	}
	gvr := scope.Resource
	at := slices.IndexFunc(resources, func(r resource.Resource) bool { return r.GVR() == gvr })
	if at < 0 {
		// Request a discovery, because the cluster can serve the resource again later. Only CRDs and APIServices have
		// scope.Metadata. They need no discovery: an API server that does not serve them now never will.
		if !scope.Metadata {
			d.Catalog.RefreshIfOld(ctx, 0)
		}
		unread := slices.ContainsFunc(groupErrors, func(g resource.GroupError) bool {
			return g.Group == gvr.Group && g.Version == gvr.Version
		})
		return reconcile.Definition{Known: !unread}
	}
	now := reconcile.Definition{Known: true, Resource: &resources[at]}
	definitions := d.Pool.Find(Scopes()[0])
	if definitions == nil {
		return now
	}
	if o, ok, _ := definitions.Get(informer.Key("", gvr.GroupResource().String())); ok {
		now.Identity = o.UID()
	}
	return now
}

// AwaitServed waits until discovery finds a resource, but at most the duration timeout. It starts no discovery. So the
// caller must watch the CustomResourceDefinitions during the call.
func (d *Definitions) AwaitServed(ctx context.Context, ref string, timeout time.Duration) {
	timedOut, before := time.After(timeout), d.Catalog.Knows(ref)
	for {
		changed := d.Changed.Next()
		// Return early only if discovery finds the resource during the call. If the resource was known before, the caller
		// failed for another reason. Then wait until the timeout, so that the caller does not retry at once.
		if !before && d.Catalog.Knows(ref) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-timedOut:
			return
		case <-changed:
		}
	}
}

// A Follower waits for changes of the list of resources. Only one goroutine can use it, and must call Close at the end.
type Follower struct {
	definitions *Definitions
	release     func()
	changed     <-chan struct{}
}

// Follow returns a Follower, whose method Next waits for changes of the list of resources.
func (d *Definitions) Follow() *Follower {
	f := &Follower{definitions: d, changed: d.Changed.Next()}
	// Run discovery at intervals until Close is called, in case the program has no permission to watch the definitions.
	d.Catalog.Follow()
	f.watch()
	return f
}

// watch starts to watch the definitions of resources if they are not watched yet. Before Cluster.Run, this fails. The
// method Next then tries again.
func (f *Follower) watch() {
	if f.release == nil {
		f.release, _ = f.definitions.Watch()
	}
}

// Close ends the Follower. If no other Follower is open, the definitions of resources are no longer watched.
func (f *Follower) Close() {
	f.definitions.Catalog.Unfollow()
	if f.release != nil {
		f.release()
	}
}

// Next returns true when the resources or the states of their informers have possibly changed. If interrupt receives a
// value or the deadline passes before that, Next returns false.
func (f *Follower) Next(ctx context.Context, interrupt <-chan struct{}, deadline time.Time) (bool, error) {
	f.watch() //nolint:contextcheck // An informer outlives the request that starts it.
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-f.changed:
		f.changed = f.definitions.Changed.Next()
		return true, nil
	case <-interrupt:
		return false, nil
	case <-time.After(time.Until(deadline)):
		return false, nil
	}
}
