package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

// A Viewer is somebody who looks. The zero Viewer is whoever can reach the
// loopback listener, and sees what the program itself may see.
type Viewer struct {
	Name string
}

// Access is the cluster as one Viewer may see it.
type Access struct {
	cluster *Cluster
	viewer  Viewer
}

// For returns the cluster as the viewer may see it.
func (c *Cluster) For(viewer Viewer) *Access { return &Access{cluster: c, viewer: viewer} }

// Known is a Resource and how well it is known now.
type Known struct {
	Resource

	Status *Status // Nil while nobody watches it.
	Count  *int    // Objects; nil where that is not known.
}

// Resources returns every resource that discovery knows, by ref, and the parts
// of the API that could not be read. What discovery told more than 10 s ago is
// asked for again, and waited for no longer than wait.
func (a *Access) Resources(ctx context.Context, wait time.Duration) ([]Known, []Gap, error) {
	a.cluster.catalog.renew(ctx, wait)
	resources, gaps, err := a.cluster.catalog.all()
	if err != nil {
		return nil, nil, err
	}
	known := make([]Known, len(resources))
	for n := range resources {
		known[n], _ = a.known(resources[n])
	}
	return known, gaps, nil
}

// known tells how well a resource is known, and by which informer; nil where
// nobody watches all of it.
func (a *Access) known(r Resource) (Known, *informer) {
	known := Known{Resource: r}
	i := a.cluster.pool.find(wire.Scope{Resource: r.gvr()})
	if i == nil {
		return known, nil
	}
	now := i.present(nil)
	known.Status = &now.status
	known.Count = i.known()
	return known, i
}

// known is how many objects there are; nil where that is not known.
func (i *informer) known() *int {
	now := i.present(nil)
	if !now.synced || now.status.State.refused() {
		return nil
	}
	count := i.Len()
	return &count
}

// Counts returns how many objects there are of each resource that is watched, by
// its ref, where that is known.
func (a *Access) Counts() map[string]int {
	counts := make(map[string]int)
	for _, i := range a.cluster.pool.informers() {
		if i.scope != (wire.Scope{Resource: i.scope.Resource}) {
			continue
		}
		if count := i.known(); count != nil {
			r := Resource{Group: i.scope.Resource.Group, Version: i.scope.Resource.Version, Resource: i.scope.Resource.Resource}
			counts[r.Ref()] = *count
		}
	}
	return counts
}

// Resource finds a resource by its ref, as "apps/v1/deployments".
func (a *Access) Resource(ctx context.Context, ref string) (*Resource, error) {
	return a.cluster.catalog.find(ctx, ref)
}

// open checks a query and holds the informer that answers it; of what is to be read
// only while it is watched, it holds nothing.
func (a *Access) open(ctx context.Context, q *Query) (*Resource, *filter, *informer, func(), error) {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	filter, err := newFilter(q, resource)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	scope := wire.Scope{Resource: resource.gvr(), Fields: filter.fields}
	if q.Watched {
		running := a.cluster.pool.find(scope)
		if running == nil {
			return nil, nil, nil, nil, notWatched(resource)
		}
		return resource, filter, running, func() {}, nil
	}
	informer, release, err := a.cluster.pool.acquire(scope, resource) //nolint:contextcheck // An informer outlives who starts it.
	if err != nil {
		return nil, nil, nil, nil, err
	}
	letGo, err := informer.ask(filter.namespaces)
	if err != nil {
		release()
		return nil, nil, nil, nil, err
	}
	return resource, filter, informer, sync.OnceFunc(func() { letGo(); release() }), nil
}

// notWatched is told to who wants to read only what is watched.
func notWatched(r *Resource) *Problem {
	return &Problem{Cause: Unavailable, Title: "Not watched", Detail: fmt.Sprintf("Nobody looks at %s now; subscribe without watched to have it watched.", r.Ref())}
}

// Subscribe begins to read what the query asks for. With a cursor of an
// earlier subscription or snapshot to the same query it goes on from there, or
// says why it cannot and begins anew.
func (a *Access) Subscribe(ctx context.Context, q Query, view View, cursor string) (*Subscription, error) {
	told, ok := viewOf(view)
	if !ok {
		return nil, invalid("Unknown view", "%.40q is not a view: use rows, table, window, object with a name, changes, resources, or log.", view)
	}
	if view == Object && q.Name == "" || (view == Rows || view == Table || view == Windowed) && q.Name != "" {
		return nil, invalid("Name and view do not fit", "view object needs a name; views rows, table and window take none.")
	}
	if (view == Windowed) != (q.Window != nil) {
		return nil, invalid("Not a window", "view window needs a window, and no other has one.")
	}
	resource, filter, informer, release, err := a.open(ctx, &q)
	if err != nil {
		return nil, err
	}
	if view == Object && resource.Namespaced != (len(filter.namespaces) == 1) {
		release()
		return nil, invalid("Which object?", "view object needs exactly one namespace for a namespaced resource.")
	}
	informer.readers.Add(1)
	s := &Subscription{
		informer: informer, release: release, filter: filter, view: told, behind: true,
		ended: ErrClosed, silence: time.NewTimer(Heartbeat), writing: paper{pool: &a.cluster.paper}, recent: &a.cluster.recent, pace: pace{every: q.Every},
		check: func(ctx context.Context) error { return a.checkNamespaces(ctx, filter.namespaces) },
	}
	if q.Watched {
		s.ended = notWatched(resource)
	}
	s.rings = s.silence.C
	if q.Window != nil {
		s.window = &windowed{Window: q.Window}
		s.silence.Stop()
		s.silence, s.rings = time.AfterFunc(Heartbeat, q.Window.ring), q.Window.rings
		cursor = "" // A window is told anew as a whole.
	}
	s.seal = func() seal { return a.seal(&q, informer) }
	if q.Name != "" && resource.Namespaced == (len(filter.namespaces) == 1) {
		s.key = keyOf(strings.Join(filter.namespaces, ""), q.Name)
	}
	if cursor != "" {
		now := informer.present(filter.namespaces)
		sealed := a.seal(&q, informer)
		offset, err := sealed.decode(cursor, informer.epochOf(now.version))
		filter.columns = now.columns
		if err == nil && told.each && informer.missed(filter.namespaces, offset) {
			err = errors.New("one of the namespaces was not watched for a while; what happened there is not known")
		}
		s.resume(offset, now.version, err)
	}
	return s, nil
}

// resume goes on from an offset, or says why that cannot be.
func (s *Subscription) resume(offset uint64, version int, err error) {
	if err != nil {
		s.started = true // There is something to begin anew.
		s.reset(err.Error())
		return
	}
	s.begun(version)
	s.cursor = journal.At(offset)
}

// seal is for cursors that are good for one viewer's view of one filter.
func (a *Access) seal(q *Query, i *informer) seal {
	return a.cluster.cursors.seal(fmt.Sprintf("%q %q %q %q %q %q %q %v", a.viewer.Name, q.Resource, q.Namespaces, q.Labels, q.Fields, q.Name, q.Text, i.scope))
}

// Item is one object of a Snapshot.
type Item = wire.Object

// Column is one column of a Snapshot's table.
type Column = wire.Column

// A Snapshot is what there is of a query at one moment.
type Snapshot struct {
	Resource *Resource
	Columns  []Column
	Objects  []*Item // By namespace and name.
	Status   Status
	Synced   bool   // The objects are all there are; otherwise the list is on its way.
	Cursor   string // Empty while not Synced.
}

// Snapshot reads what the query asks for. It waits for a first list for as long
// as wait says, then answers with what is known, which its Status tells.
func (a *Access) Snapshot(ctx context.Context, q Query, wait time.Duration) (*Snapshot, error) {
	resource, filter, informer, release, err := a.open(ctx, &q)
	if err != nil {
		return nil, err
	}
	defer release()
	informer.wait(ctx, wait, func() bool { return informer.present(filter.namespaces).status.State != Syncing })
	listing, now := informer.objects(filter, 0)
	snapshot := &Snapshot{Resource: resource, Columns: now.columns, Status: now.status, Synced: now.synced}
	if !now.synced && now.status.State == Failed && now.status.senseless && q.Fields != "" {
		return nil, invalid("Not a field selector", "The API server refuses %q for %s: %s", q.Fields, q.Resource, now.status.Reason)
	}
	if !now.synced {
		return snapshot, ctx.Err()
	}
	sealed := a.seal(&q, informer)
	snapshot.Objects = slices.Clone(listing.objects) // They may be sorted in another way.
	snapshot.Cursor = string(sealed.append(nil, informer.epochOf(now.version), listing.cursor.Offset))
	if len(listing.objects) == 0 {
		err = a.checkNamespaces(ctx, filter.namespaces)
	}
	return snapshot, err
}

const (
	// maxChecked is how many namespaces are asked for, one by one.
	maxChecked = 10
	// checkTimeout bounds all of that: who waits for rows is told no sooner.
	checkTimeout = 2 * time.Second
)

// checkNamespaces tells of a namespace that does not exist. One that may not be
// read passes, and so does what is not answered in time, or after the first few.
func (a *Access) checkNamespaces(ctx context.Context, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, ns := range namespaces[:min(len(namespaces), maxChecked)] {
		if err := a.cluster.existing.of(ctx, ns, a.cluster.checkNamespace); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) checkNamespace(ctx context.Context, ns string) error {
	_, err := c.get(ctx, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", ns)
	if p := new(Problem); err != nil && errors.As(problemOf(err, ns), &p) && p.Cause == Unknown {
		return unknown("Unknown namespace", "The cluster has no namespace %q. GET /api/v1/snapshot/core/v1/namespaces lists those it has.", ns)
	}
	return nil
}

// Object returns one object as redacted JSON: from the cache where that is
// live, otherwise from the API server.
func (a *Access) Object(ctx context.Context, ref, namespace, name string) ([]byte, error) {
	resource, err := a.Resource(ctx, ref)
	if err != nil {
		return nil, err
	}
	if resource.Namespaced != (namespace != "") {
		return nil, invalid("Which object?", "A namespaced resource needs a namespace, others need _ in its place; %s %s.", resource.Ref(),
			map[bool]string{true: "is namespaced", false: "is not"}[resource.Namespaced])
	}
	if namespace != "" {
		if err := checkNamespace(namespace); err != nil {
			return nil, err
		}
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	if o, status := a.held(resource, namespace, name); o != nil && status.State == Live {
		return o.JSON()
	}
	if !resource.Can("get") {
		return nil, invalid("Not readable", "%s cannot be read one by one: the API serves %s alone.", ref, strings.Join(resource.Verbs, ", "))
	}
	text, err := a.cluster.get(ctx, resource.gvr(), namespace, name)
	if err != nil {
		return nil, problemOf(err, strings.TrimPrefix(namespace+"/"+name, "/"))
	}
	return text, nil
}

// stalePatience bounds how long the API server is asked for an object that the
// cache holds as it was.
const stalePatience = 2 * time.Second

// LastKnown is Object, and its status is Live; but where the API server does not
// answer it is the object as the cache holds it, and the status says since when.
func (a *Access) LastKnown(ctx context.Context, ref, namespace, name string) (text []byte, status Status, err error) {
	var known *wire.Object
	asking := ctx
	if resource, err := a.Resource(ctx, ref); err == nil {
		known, status = a.held(resource, namespace, name)
	}
	if status.State != Stale {
		known = nil
	}
	if known != nil {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, stalePatience)
		defer cancel()
	}
	text, err = a.Object(asking, ref, namespace, name)
	if p := new(Problem); known != nil && errors.As(err, &p) && p.Cause == Unavailable {
		text, err = known.JSON()
		return text, status, err
	}
	return text, Status{State: Live}, err
}

// held is what the cache has of an object, nil for nothing, and how well its kind
// is known there.
func (a *Access) held(resource *Resource, namespace, name string) (*wire.Object, Status) {
	var namespaces []string
	if namespace != "" {
		namespaces = []string{namespace}
	}
	i := a.cluster.pool.find(wire.Scope{Resource: resource.gvr()})
	if i == nil {
		return nil, Status{}
	}
	status := i.present(namespaces).status
	o, _, _ := i.Get(keyOf(namespace, name))
	return o, status
}
