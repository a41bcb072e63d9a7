package graph

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// Has reports whether the graph contains an object.
func (g *Graph) Has(id ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	_, ok := g.objects[id.Kind][id.Key]
	return ok
}

// References returns what an object uses, without the node of a pod, and its owners. Callers must not change the
// results.
func (g *Graph) References(id ID) (uses []Use, owners []Owner) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	m, ok := g.objects[id.Kind][id.Key]
	if !ok {
		return nil, nil
	}
	return m.group.uses, m.group.owners
}

// Users returns at most limit objects that use an object: those that name it, and the pods on a node. The order is
// undefined.
func (g *Graph) Users(id ID, limit int) []ID {
	g.mu.RLock()
	defer g.mu.RUnlock()
	users := collect(g.users[id], limit)
	if id.Kind == node {
		if pods := g.onNode[id.Name()]; pods != nil {
			users = appendKeys(users, pod, pods.keys, limit)
		}
	}
	return users
}

// Owned returns at most limit objects of an owner, given by its UID.
func (g *Graph) Owned(uid string, limit int) []ID {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return collect(g.owned[uid], limit)
}

// Selected returns at most limit pods of a namespace that a selector selects.
func (g *Graph) Selected(namespace string, s *objectrefs.Selector, limit int) []ID {
	g.mu.RLock()
	defer g.mu.RUnlock()
	byLabel := g.pods[namespace]
	candidates := byLabel[""]
	for _, label := range s.Required() {
		if groups := byLabel[label]; len(groups) < len(candidates) {
			candidates = groups
		}
	}
	var selected []ID
	for _, n := range candidates {
		if s.Matches(n.labels) {
			selected = appendKeys(selected, pod, n.keys, limit)
		}
	}
	return selected
}

// Selector returns the pod selector of an object, or nil.
func (g *Graph) Selector(id ID) *objectrefs.Selector {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if m, ok := g.objects[id.Kind][id.Key]; ok {
		return m.group.selector
	}
	return nil
}

// Selectors returns the objects whose selector selects a pod.
func (g *Graph) Selectors(id ID) (selectors []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	m, ok := g.objects[id.Kind][id.Key]
	if !ok || id.Kind != pod {
		return nil
	}
	for _, label := range podLabels(m.group) {
		for _, n := range g.selectors[m.group.namespace][label] {
			if n.selector.Matches(m.group.labels) {
				selectors = appendKeys(selectors, n.kind, n.keys, len(n.keys)+len(selectors))
			}
		}
	}
	return selectors
}

// Objects returns the number of objects.
func (g *Graph) Objects() (count int) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, byKey := range g.objects {
		count += len(byKey)
	}
	return count
}

func collect(groups []*group, limit int) (ids []ID) {
	for _, n := range groups {
		ids = appendKeys(ids, n.kind, n.keys, limit)
	}
	return ids
}

func appendKeys(ids []ID, kind Kind, keys []string, limit int) []ID {
	for _, key := range keys[:min(len(keys), max(0, limit-len(ids)))] {
		ids = append(ids, ID{kind, key})
	}
	return ids
}
