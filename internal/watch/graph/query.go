package graph

import (
	"math"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// References returns what an object uses, and its owners. It omits the node of a pod.
func (g *Graph) References(id ID) (uses []Use, owners []Owner) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.storage.groupOf(id)
	if n == nil {
		return nil, nil
	}
	s := unpack(n.text)
	return s.uses, s.owners
}

// NodeOf returns the name of a pod's node, or "".
func (g *Graph) NodeOf(id ID) string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	number := g.storage.find(id)
	if number == 0 || g.storage.objects.at(number).groups[1] == 0 {
		return ""
	}
	onNode := unpack(g.storage.groups.at(g.storage.objects.at(number).groups[1]).text)
	return onNode.uses[0].Target.Name()
}

// Users returns at most limit objects that use an object. These are objects that name it, and for a node also its pods.
// The order is undefined.
func (g *Graph) Users(id ID, limit int) []ID { return g.collect(term{uses, id.Kind, id.Key}, limit) }

// Owned returns at most limit objects whose owner has the given UID.
func (g *Graph) Owned(uid string, limit int) []ID {
	return g.collect(term{relation: owned, text: uid}, limit)
}

// In returns the objects of a kind in a namespace. For a cluster-scoped kind, the namespace is empty.
func (g *Graph) In(kind Kind, namespace string) []ID {
	return g.collect(term{exists, kind, namespace}, math.MaxInt)
}

// OfKind returns the objects of a kind in all namespaces. It reads the groups of objects with equal references. A large
// cluster has far fewer of them than objects.
func (g *Graph) OfKind(kind Kind) (ids []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for number := uint32(1); number <= g.storage.groups.last; number++ {
		n := g.storage.groups.at(number)
		// Skip the group of all pods on a node: each of its members is also in the group of its own references.
		if n.first != 0 && kindOf(n.text) == kind && g.storage.objects.at(n.first).groups[0] == number {
			ids = g.storage.appendMembers(ids, number, math.MaxInt)
		}
	}
	return ids
}

// All returns the objects of the kinds for which include returns true. It reads the complete graph. The newest objects
// are first, because Remove is fastest if a caller removes them in this order.
func (g *Graph) All(include func(Kind) bool) (ids []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for number := g.storage.objects.last; number > 0; number-- {
		o := g.storage.objects.at(number)
		if o.groups[0] == 0 {
			continue // The object with this number was removed.
		}
		if id := g.storage.idOf(o); include(id.Kind) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Selected returns at most limit pods of a namespace that a selector selects.
func (g *Graph) Selected(namespace string, s *objectrefs.Selector, limit int) (selected []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	candidates := term{exists, pod, namespace}
	fewest := g.storage.count(candidates)
	for _, label := range s.Required() {
		t := labelTerm(labeled, namespace, label)
		if count := g.storage.count(t); count < fewest {
			candidates, fewest = t, count
		}
	}
	for n := range g.storage.groupsWith(candidates) {
		if len(selected) >= limit {
			break
		}
		if s.Matches(labelsOf(g.storage.groups.at(n).text)) {
			selected = g.storage.appendMembers(selected, n, limit)
		}
	}
	return selected
}

// Selector returns the pod selector of an object, or nil.
func (g *Graph) Selector(id ID) *objectrefs.Selector {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if n := g.storage.groupOf(id); n != nil {
		return n.selector
	}
	return nil
}

// Selectors returns the objects whose selector selects a pod.
func (g *Graph) Selectors(id ID) (selectors []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.storage.groupOf(id)
	if n == nil || id.Kind != pod {
		return nil
	}
	labels := labelsOf(n.text)
	candidates := []term{labelTerm(selects, id.Namespace(), "")}
	for name, value := range labels {
		candidates = append(candidates, labelTerm(selects, id.Namespace(), name+"="+value))
	}
	for _, t := range candidates {
		for other := range g.storage.groupsWith(t) {
			if g.storage.groups.at(other).selector.Matches(labels) {
				// Each object with a selector has a group of its own, so append at most one member.
				selectors = g.storage.appendMembers(selectors, other, len(selectors)+1)
			}
		}
	}
	return selectors
}

// Objects returns the number of objects.
func (g *Graph) Objects() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.storage.objects.len()
}

func (g *Graph) collect(t term, limit int) (ids []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for n := range g.storage.groupsWith(t) {
		if ids = g.storage.appendMembers(ids, n, limit); len(ids) >= limit {
			break
		}
	}
	return ids
}
