package inherit

import (
	"cmp"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// Named returns the objects that the message of an object (the parameter by) can mean (see neighbor.Cluster). Objects
// whose kind is in the API group of by are first, then those of built-in kinds.
func (i *index) Named(by graph.ID, m *neighbor.Mention) (found []neighbor.Neighbor) {
	i.mu.RLock()
	kinds := neighbor.Kinds(by, m, func(yield func(graph.Kind, string) bool) {
		for kind, r := range i.served {
			if !yield(kind, r.Resource) {
				return
			}
		}
	})
	i.mu.RUnlock()
	for _, kind := range kinds {
		namespace := ""
		if isNamespaced, _ := i.isNamespaced(kind); isNamespaced {
			if namespace = cmp.Or(m.Namespace, by.Namespace()); namespace == "" {
				continue
			}
		}
		found = append(found, i.Find(graph.NewID(kind, namespace, m.Name)))
	}
	return found
}
