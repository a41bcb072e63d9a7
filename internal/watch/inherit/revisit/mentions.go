package revisit

import (
	"slices"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Mentions contains the objects that the messages of other objects name. When such an object changes, the objects with
// the messages are evaluated again. An ID from AllOf means all objects of a kind. Call Reset before use.
type Mentions struct {
	mu sync.Mutex
	of map[graph.ID][]graph.ID // The named objects, by the object with the message.
	by map[graph.ID][]graph.ID // The objects with the messages, by the named object.
}

// Reset removes all mentions.
func (m *Mentions) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of, m.by = make(map[graph.ID][]graph.ID), make(map[graph.ID][]graph.ID)
}

// Set records which objects the message of an object names. It replaces the earlier record.
func (m *Mentions) Set(id graph.ID, named []graph.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Equal(m.of[id], named) {
		return // This is so for most evaluations. The list of an object that many others name is long.
	}
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

// Add records that the message of the object id names one more object. The next call of Set for the object id replaces
// all objects that were recorded.
func (m *Mentions) Add(id, named graph.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.of[id], named) {
		return
	}
	m.of[id] = append(m.of[id], named)
	m.by[named] = append(m.by[named], id)
}

// Has reports whether an object has a message which names the object id.
func (m *Mentions) Has(id graph.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.by[id]) > 0
}

// Users returns the objects that have a message which names the object id.
func (m *Mentions) Users(id graph.ID) []graph.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.by[id])
}
