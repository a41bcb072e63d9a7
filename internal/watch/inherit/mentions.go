package inherit

import (
	"cmp"
	"slices"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// Named returns the objects that the message of an object (the parameter by) can mean (see neighbor.Cluster). Objects
// whose kind is in the API group of by are first, then those of built-in kinds.
func (x *index) Named(by graph.ID, m *neighbor.Mention) (found []neighbor.Neighbor) {
	x.mu.RLock()
	kinds := neighbor.Kinds(by, m, func(yield func(graph.Kind, string) bool) {
		for kind, r := range x.served {
			if !yield(kind, r.Resource) {
				return
			}
		}
	})
	x.mu.RUnlock()
	for _, kind := range kinds {
		namespace := ""
		if isNamespaced, _ := x.isNamespaced(kind); isNamespaced {
			if namespace = cmp.Or(m.Namespace, by.Namespace()); namespace == "" {
				continue
			}
		}
		found = append(found, x.Find(graph.NewID(kind, namespace, m.Name)))
	}
	return found
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

// users returns the objects that have a message which names the object id.
func (m *mentions) users(id graph.ID) []graph.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.by[id])
}
