package inherit

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// Named returns the objects that a message can mean (see neighbor.Cluster). by is the object with the message. Kinds in
// the group of by are first, and then the kinds of Kubernetes itself.
func (x *index) Named(by graph.ID, m *neighbor.Mention) (found []neighbor.Neighbor) {
	var kinds []*resource.Resource
	x.mu.RLock()
	for _, r := range x.served {
		isKind := strings.EqualFold(r.Kind, m.Kind) || strings.EqualFold(r.Resource, m.Kind)
		if isKind && (m.Group == "" || m.Group == r.Group) {
			kinds = append(kinds, r)
		}
	}
	x.mu.RUnlock()
	slices.SortFunc(kinds, func(a, b *resource.Resource) int {
		return cmp.Or(cmp.Compare(distance(by.Group, a.Group), distance(by.Group, b.Group)), cmp.Compare(a.Group, b.Group))
	})
	for _, r := range kinds {
		namespace := ""
		if r.Namespaced {
			if namespace = cmp.Or(m.Namespace, by.Namespace()); namespace == "" {
				continue
			}
		}
		found = append(found, x.Find(graph.NewID(graph.Kind{Group: r.Group, Kind: r.Kind}, namespace, m.Name)))
	}
	return found
}

func distance(from, to string) int {
	switch {
	case from == to:
		return 0
	case resource.IsBuiltIn(to):
		return 1
	}
	return 2
}

// mentions contains the objects that the messages of other objects name.
type mentions struct {
	mu sync.Mutex
	of map[graph.ID][]graph.ID // The named objects, by the object with the message.
	by map[graph.ID][]graph.ID // The objects with the messages, by the named object.
}

// reset removes all mentions.
func (m *mentions) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of, m.by = make(map[graph.ID][]graph.ID), make(map[graph.ID][]graph.ID)
}

// set replaces the objects that the message of an object names.
func (m *mentions) set(id graph.ID, named []graph.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.of[id] {
		rest := slices.DeleteFunc(m.by[other], func(by graph.ID) bool { return by == id })
		if m.by[other] = rest; len(rest) == 0 {
			delete(m.by, other)
		}
	}
	if delete(m.of, id); len(named) == 0 {
		return
	}
	m.of[id] = named
	for _, other := range named {
		m.by[other] = append(m.by[other], id)
	}
}

// users returns the objects whose messages name an object.
func (m *mentions) users(id graph.ID) []graph.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.by[id])
}

// recorder is used for the evaluation of one object. It records the objects that the messages name.
type recorder struct {
	*Engine

	named []graph.ID
}

// Named returns the objects that a message can mean (see neighbor.Cluster).
func (r *recorder) Named(by graph.ID, m *neighbor.Mention) []neighbor.Neighbor {
	found := r.Engine.Named(by, m)
	for n := range found {
		r.named = append(r.named, found[n].ID)
	}
	return found
}
