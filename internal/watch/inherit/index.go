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
	unknown   []string // The API groups whose kinds are possibly not all in served; see Options.Resources.
	watched   map[graph.Kind]*watched
	order     []*watched // In the order in which their watches started.
	planned   int
	omitted   int  // The number of custom resources that are not watched (see plan.Of).
	isPlanned bool // The resources to watch are known.
}

func (i *index) forgetResources() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served == nil {
		i.served, i.unknown = make(map[graph.Kind]*resource.Resource), []string{resource.AnyGroup}
	}
	i.watched, i.order, i.planned, i.isPlanned = make(map[graph.Kind]*watched), nil, 0, false
}

func (i *index) resourceOf(kind graph.Kind) *resource.Resource {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.served[kind]
}

func (i *index) add(w *watched) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.watched[w.kind] = w
	i.order = append(i.order, w)
}

// isListed reports whether all planned resources are in the graph, except for those whose list takes too long.
func (i *index) isListed() bool {
	i.mu.RLock()
	isStarted, order := i.isPlanned && len(i.order) >= i.planned, i.order
	i.mu.RUnlock()
	return isStarted && !slices.ContainsFunc(order, func(w *watched) bool {
		isListing := w.informer.CurrentState(nil).Status.State == status.Syncing || !w.isRead.Load()
		return isListing && time.Since(w.started) < maxListing
	})
}

func (i *index) isNamespaced(kind graph.Kind) (namespaced, ok bool) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	r := i.served[kind]
	if r == nil {
		return false, false
	}
	return r.Namespaced, true
}

// setServed replaces the resources that the cluster serves. It reports whether their kinds or the unknown groups have
// changed.
func (i *index) setServed(resources []resource.Resource, unknown []string, planned, omitted int) (hasOtherKinds bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before, unknownBefore := i.served, i.unknown
	i.served = make(map[graph.Kind]*resource.Resource, len(before))
	for n := range resources {
		kind := graph.Kind{Group: resources[n].Group, Kind: resources[n].Kind}
		if resources[n].Preferred || i.served[kind] == nil {
			i.served[kind] = &resources[n]
		}
	}
	i.unknown, i.planned, i.omitted, i.isPlanned = unknown, planned, omitted, len(resources) > 0
	ignoreVersions := func(_, _ *resource.Resource) bool { return true }
	return !slices.Equal(unknownBefore, unknown) || !maps.EqualFunc(before, i.served, ignoreVersions)
}

func (i *index) isWatched(r *resource.Resource) bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	w := i.watched[graph.Kind{Group: r.Group, Kind: r.Kind}]
	return w != nil && w.resource.Ref() == r.Ref()
}

// stopUnplanned stops the watched resources that are not planned: the cluster does not serve them any more, or there
// are too many custom resources.
func (i *index) stopUnplanned(planned []*resource.Resource) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.order = slices.DeleteFunc(i.order, func(w *watched) bool {
		isPlanned := slices.ContainsFunc(planned, func(r *resource.Resource) bool { return r.Ref() == w.resource.Ref() })
		if !isPlanned {
			w.stop()
			delete(i.watched, w.kind)
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
func (i *index) State() State {
	i.mu.RLock()
	defer i.mu.RUnlock()
	s := State{Planned: i.planned, Omitted: i.omitted, IsPlanned: i.isPlanned}
	for _, w := range i.order {
		s.Watched = append(s.Watched, Watched{w.resource, w.informer})
	}
	return s
}

// Now returns the present time (see neighbor.Cluster).
func (*index) Now() time.Time { return time.Now() }

// Find returns what is known about an object (see neighbor.Cluster).
func (i *index) Find(id graph.ID) neighbor.Neighbor {
	n := neighbor.Neighbor{ID: id}
	i.mu.RLock()
	r, w := i.served[id.Kind], i.watched[id.Kind]
	isUnknown := slices.Contains(i.unknown, id.Group) || slices.Contains(i.unknown, resource.AnyGroup)
	i.mu.RUnlock()
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
	// If the ID has no name, Missing means that the graph already has all objects of the kind. So w.isRead must be
	// true, too.
	if w.informer.CurrentState(namespaces).Synced && (id.Name() != "" || w.isRead.Load()) {
		n.Presence = neighbor.Missing
	}
	return n
}

// All returns objects of a kind in a namespace, sorted by name (see neighbor.Cluster).
func (i *index) All(kind graph.Kind, namespace string, limit int) (found []neighbor.Neighbor) {
	ids := i.graph.In(kind, namespace)
	if namespace == neighbor.AnyNamespace {
		ids = i.graph.OfKind(kind)
	}
	slices.SortFunc(ids, func(a, b graph.ID) int { return cmp.Compare(a.Key, b.Key) })
	for _, id := range ids {
		if len(found) == limit {
			break
		}
		if n := i.Find(id); n.Object != nil { // The graph can still have objects that were just deleted.
			found = append(found, n)
		}
	}
	return found
}

// Users returns the objects that use an object (see neighbor.Cluster).
func (i *index) Users(id graph.ID, limit int) []graph.ID { return i.graph.Users(id, limit) }

// Owned returns at most limit objects whose owner has the given UID (see neighbor.Cluster).
func (i *index) Owned(uid string, limit int) []graph.ID { return i.graph.Owned(uid, limit) }

// Selected returns the pods that a selector selects (see neighbor.Cluster).
func (i *index) Selected(namespace string, s *objectrefs.Selector, limit int) []graph.ID {
	return i.graph.Selected(namespace, s, limit)
}

// References returns what an object uses, and its owners (see neighbor.Cluster).
func (i *index) References(id graph.ID) (uses []graph.Use, owners []graph.Owner) {
	return i.graph.References(id)
}

// Selector returns the pod selector of an object, or nil (see neighbor.Cluster).
func (i *index) Selector(id graph.ID) *objectrefs.Selector { return i.graph.Selector(id) }

func (i *index) uidOf(id graph.ID) string {
	if n := i.Find(id); n.Object != nil {
		return n.Object.UID()
	}
	return ""
}
