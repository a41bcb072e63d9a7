package graph

import (
	"hash/maphash"
	"iter"
	"math"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// References returns what an object uses, and its owners. It omits the node of a pod.
func (g *Graph) References(id ID) (uses []Use, owners []Owner) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.groupOfLocked(id)
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
	number := g.findLocked(id)
	if number == 0 || g.objects.at(number).groups[1] == 0 {
		return ""
	}
	onNode := unpack(g.groups.at(g.objects.at(number).groups[1]).text)
	return onNode.uses[0].Target.Name()
}

// Users returns at most limit objects that use an object: those that name it, and the pods on a node. The order is
// undefined.
func (g *Graph) Users(id ID, limit int) []ID { return g.collect(term{uses, id.Kind, id.Key}, limit) }

// Owned returns at most limit objects of an owner, given by its UID.
func (g *Graph) Owned(uid string, limit int) []ID {
	return g.collect(term{relation: owned, text: uid}, limit)
}

// In returns the objects of a kind in a namespace, or of a cluster-scoped kind.
func (g *Graph) In(kind Kind, namespace string) []ID {
	return g.collect(term{exists, kind, namespace}, math.MaxInt)
}

// All returns the objects of the kinds for which include returns true. It reads the complete graph. The newest objects
// are first, because Remove is the fastest in this order.
func (g *Graph) All(include func(Kind) bool) (ids []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for number := g.objects.last; number > 0; number-- {
		o := g.objects.at(number)
		if o.groups[0] == 0 {
			continue // It was removed.
		}
		if id := g.idLocked(o); include(id.Kind) {
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
	fewest := g.countLocked(candidates)
	for _, label := range s.Required() {
		t := labelTerm(labeled, namespace, label)
		if count := g.countLocked(t); count < fewest {
			candidates, fewest = t, count
		}
	}
	for n := range g.groupsLocked(candidates) {
		if len(selected) >= limit {
			break
		}
		if s.Matches(labelsOf(g.groups.at(n).text)) {
			selected = g.appendMembersLocked(selected, n, limit)
		}
	}
	return selected
}

// Selector returns the pod selector of an object, or nil.
func (g *Graph) Selector(id ID) *objectrefs.Selector {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if n := g.groupOfLocked(id); n != nil {
		return n.selector
	}
	return nil
}

// Selectors returns the objects whose selector selects a pod.
func (g *Graph) Selectors(id ID) (selectors []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.groupOfLocked(id)
	if n == nil || id.Kind != pod {
		return nil
	}
	labels := labelsOf(n.text)
	candidates := []term{labelTerm(selects, id.Namespace(), "")}
	for name, value := range labels {
		candidates = append(candidates, labelTerm(selects, id.Namespace(), name+"="+value))
	}
	for _, t := range candidates {
		for other := range g.groupsLocked(t) {
			if g.groups.at(other).selector.Matches(labels) {
				selectors = g.appendMembersLocked(selectors, other, len(selectors)+1) // A group with a selector has one member.
			}
		}
	}
	return selectors
}

// Objects returns the number of objects.
func (g *Graph) Objects() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.objects.len()
}

func (g *Graph) collect(t term, limit int) (ids []ID) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for n := range g.groupsLocked(t) {
		if ids = g.appendMembersLocked(ids, n, limit); len(ids) >= limit {
			break
		}
	}
	return ids
}

// groupsLocked returns the numbers of the groups that a term finds.
func (g *Graph) groupsLocked(t term) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		first := g.findTermLocked(g.hashOf(t))
		if first == nil {
			return
		}
		for n := *first; n != 0; n = g.links.at(n).next {
			if !yield(g.links.at(n).group) {
				return
			}
		}
	}
}

func (g *Graph) countLocked(t term) (count int) {
	for range g.groupsLocked(t) {
		count++
	}
	return count
}

// appendMembersLocked appends the members of a group, but no more than limit objects in total.
func (g *Graph) appendMembersLocked(ids []ID, number uint32, limit int) []ID {
	from := g.groups.at(number)
	kind := kindOf(from.text)
	for n := from.first; n != 0 && len(ids) < limit; {
		o := g.objects.at(n)
		ids = append(ids, ID{kind, o.key})
		if n = o.next[0]; o.groups[1] == number {
			n = o.next[1]
		}
	}
	return ids
}

// findLocked returns the number of an object, or 0.
func (g *Graph) findLocked(id ID) uint32 {
	if slot := g.byID.find(g.hashOfID(id), func(n uint32) bool {
		o := g.objects.at(n)
		return o.key == id.Key && g.idLocked(o) == id
	}); slot != nil {
		return *slot
	}
	return 0
}

// findTermLocked returns a pointer to the number of a term's first link, or nil.
func (g *Graph) findTermLocked(hash uint64) (first *uint32) {
	return g.byTerm.find(hash, func(n uint32) bool { return g.links.at(n).hash == hash })
}

// groupOfLocked returns the group of an object's references, or nil.
func (g *Graph) groupOfLocked(id ID) *group {
	if number := g.findLocked(id); number != 0 {
		return g.groups.at(g.objects.at(number).groups[0])
	}
	return nil
}

func (g *Graph) idLocked(o *object) ID { return ID{kindOf(g.groups.at(o.groups[0]).text), o.key} }

func (g *Graph) hashOfID(id ID) uint64 { return maphash.Comparable(g.seed, id) }

func (g *Graph) hashOf(t term) uint64 { return maphash.Comparable(g.seed, t) }
