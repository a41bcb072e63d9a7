package inherit

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// index contains the watched resources, and the references between their objects. Except for the method RevisitAt, it
// implements neighbor.Cluster, through which the rules read the cluster.
type index struct {
	graph *graph.Graph

	mu        sync.RWMutex
	served    map[graph.Kind]*resource.Resource
	unknown   []string // The API groups some of whose kinds are possibly not in served; see Options.Resources.
	watched   map[graph.Kind]*watched
	order     []*watched // In the order in which their watches started.
	planned   int
	omitted   int  // The number of custom resources that are not watched (see plan.Of).
	isPlanned bool // The resources to watch are known.
}

func (x *index) forgetResources() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.served == nil {
		x.served, x.unknown = make(map[graph.Kind]*resource.Resource), []string{resource.AnyGroup}
	}
	x.watched, x.order, x.planned, x.isPlanned = make(map[graph.Kind]*watched), nil, 0, false
}

func (x *index) resourceOf(kind graph.Kind) *resource.Resource {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.served[kind]
}

func (x *index) add(w *watched) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watched[w.kind] = w
	x.order = append(x.order, w)
}

// isListed reports whether all planned resources are in the graph, except for those whose list takes too long.
func (x *index) isListed() bool {
	x.mu.RLock()
	isStarted, order := x.isPlanned && len(x.order) >= x.planned, x.order
	x.mu.RUnlock()
	return isStarted && !slices.ContainsFunc(order, func(w *watched) bool {
		isListing := w.informer.CurrentState(nil).Status.State == status.Syncing || !w.isRead.Load()
		return isListing && time.Since(w.started) < maxListing
	})
}

func (x *index) isNamespaced(kind graph.Kind) (namespaced, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	r := x.served[kind]
	if r == nil {
		return false, false
	}
	return r.Namespaced, true
}

// setServed replaces the resources that the cluster serves. It reports whether their kinds or the unknown groups have
// changed.
func (x *index) setServed(resources []resource.Resource, unknown []string, planned, omitted int) (hasOtherKinds bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before, unknownBefore := x.served, x.unknown
	x.served = make(map[graph.Kind]*resource.Resource, len(before))
	for n := range resources {
		kind := graph.Kind{Group: resources[n].Group, Kind: resources[n].Kind}
		if resources[n].Preferred || x.served[kind] == nil {
			x.served[kind] = &resources[n]
		}
	}
	x.unknown, x.planned, x.omitted, x.isPlanned = unknown, planned, omitted, len(resources) > 0
	ignoreVersions := func(_, _ *resource.Resource) bool { return true }
	return !slices.Equal(unknownBefore, unknown) || !maps.EqualFunc(before, x.served, ignoreVersions)
}

func (x *index) isWatched(r *resource.Resource) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	w := x.watched[graph.Kind{Group: r.Group, Kind: r.Kind}]
	return w != nil && w.resource.Ref() == r.Ref()
}

// stopUnplanned stops the watched resources that are not planned, because the cluster does not serve them any more.
func (x *index) stopUnplanned(planned []*resource.Resource) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.order = slices.DeleteFunc(x.order, func(w *watched) bool {
		isPlanned := slices.ContainsFunc(planned, func(r *resource.Resource) bool { return r.Ref() == w.resource.Ref() })
		if !isPlanned {
			w.stop()
			delete(x.watched, w.kind)
		}
		return !isPlanned
	})
}

// State describes the resources that the engine watches.
type State struct {
	Watched []Watched // In the order in which their watches started.
	Planned int       // The number of resources that will be watched.
	Omitted int       // The number of custom resources that are not watched, because there are too many.
	// IsPlanned reports whether the resources to watch are known.
	IsPlanned bool
}

// Watched is one resource that the engine reads.
type Watched struct {
	Resource *resource.Resource
	Informer *informer.Informer
}

// State describes the resources that the engine watches now.
func (x *index) State() State {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := State{Planned: x.planned, Omitted: x.omitted, IsPlanned: x.isPlanned}
	for _, w := range x.order {
		s.Watched = append(s.Watched, Watched{w.resource, w.informer})
	}
	return s
}

// Now returns the present time (see neighbor.Cluster).
func (*index) Now() time.Time { return time.Now() }

// Find returns what is known about an object (see neighbor.Cluster).
func (x *index) Find(id graph.ID) neighbor.Neighbor {
	n := neighbor.Neighbor{ID: id}
	x.mu.RLock()
	r, w := x.served[id.Kind], x.watched[id.Kind]
	isUnknown := slices.Contains(x.unknown, id.Group) || slices.Contains(x.unknown, resource.AnyGroup)
	x.mu.RUnlock()
	if r == nil {
		// An object counts as missing only if all kinds of its group are known. Without a group, the ID can mean a kind of
		// any group.
		if !isUnknown && id.Group != "" {
			n.Presence = neighbor.Missing
		}
		return n
	}
	n.Resource = r.Ref()
	if w == nil {
		return n
	}
	if o, ok, _ := w.informer.Get(id.Key); ok {
		n.Presence, n.Object = neighbor.Present, o
		return n
	}
	if w.informer.Scope.Labels != "" && id.Name() != "" {
		return n // Only objects with certain labels are read. The object possibly exists without these labels.
	}
	var namespaces []string
	if namespace := id.Namespace(); namespace != "" {
		namespaces = []string{namespace}
	}
	// For an ID without a name, Missing means that the graph has all objects of the kind, so w.isRead is checked, too.
	if w.informer.CurrentState(namespaces).Synced && (id.Name() != "" || w.isRead.Load()) {
		n.Presence = neighbor.Missing
	}
	return n
}

// All returns objects of a kind in a namespace, sorted by name (see neighbor.Cluster).
func (x *index) All(kind graph.Kind, namespace string, limit int) (found []neighbor.Neighbor) {
	ids := x.graph.In(kind, namespace)
	if namespace == neighbor.AnyNamespace {
		ids = x.graph.All(func(other graph.Kind) bool { return other == kind })
	}
	slices.SortFunc(ids, func(a, b graph.ID) int { return cmp.Compare(a.Key, b.Key) })
	for _, id := range ids[:min(limit, len(ids))] {
		if n := x.Find(id); n.Object != nil {
			found = append(found, n)
		}
	}
	return found
}

// Users returns the objects that use an object (see neighbor.Cluster).
func (x *index) Users(id graph.ID, limit int) []graph.ID { return x.graph.Users(id, limit) }

// Owned returns at most limit objects whose owner has the given UID (see neighbor.Cluster).
func (x *index) Owned(uid string, limit int) []graph.ID { return x.graph.Owned(uid, limit) }

// Selected returns the pods that a selector selects (see neighbor.Cluster).
func (x *index) Selected(namespace string, s *objectrefs.Selector, limit int) []graph.ID {
	return x.graph.Selected(namespace, s, limit)
}

// References returns what an object uses, and its owners (see neighbor.Cluster).
func (x *index) References(id graph.ID) (uses []graph.Use, owners []graph.Owner) {
	return x.graph.References(id)
}

// Selector returns the pod selector of an object, or nil (see neighbor.Cluster).
func (x *index) Selector(id graph.ID) *objectrefs.Selector { return x.graph.Selector(id) }

func (x *index) uidOf(id graph.ID) string {
	if n := x.Find(id); n.Object != nil {
		return n.Object.UID()
	}
	return ""
}
