// Package graph is an index of the references between the objects of a cluster, in both directions. It finds the users,
// owned objects and selectors of an object without a scan of all objects.
//
// Objects of a kind and namespace with the same references and labels, such as the pods of a ReplicaSet, share one
// group. A pod thus takes about 55 bytes. Its key takes no more memory, because the caller and the graph share it.
package graph

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// Kind is a kind of an API group. The group is empty for the core group.
type Kind struct{ Group, Kind string }

// ID identifies an object by its kind and its journal key, "namespace/name".
type ID struct {
	Kind

	Key string
}

// NewID returns the ID of an object. The namespace of a cluster-scoped object is empty.
func NewID(kind Kind, namespace, name string) ID { return ID{kind, namespace + "/" + name} }

// Namespace returns the namespace, or an empty string for a cluster-scoped object.
func (id ID) Namespace() string { return id.Key[:strings.IndexByte(id.Key, '/')] }

// Name returns the name.
func (id ID) Name() string { return id.Key[strings.IndexByte(id.Key, '/')+1:] }

// Use is a reference from one object to another.
type Use struct {
	Target   ID
	Via      string // The path of the referring member, such as "spec.volumes.configMap".
	Optional bool   // The referring object works without the other object.
}

// Owner is a reference from an object to its owner.
type Owner struct {
	ID

	UID string
}

// Graph is the index. It is safe for concurrent use.
type Graph struct {
	// isNamespaced reports whether objects of a kind have a namespace. ok is false if the kind is not served.
	isNamespaced func(Kind) (namespaced, ok bool)
	// seed is random, so an attacker cannot construct texts with the same hash.
	seed maphash.Seed

	mu      sync.RWMutex
	objects slab[object]
	groups  slab[group]
	links   slab[link]
	byID    table // The numbers of the objects.
	byText  table // The numbers of the groups, by their packed shape.
	byTerm  table // The number of the first link of each term.
}

var (
	pod  = Kind{Kind: "Pod"}  //nolint:gochecknoglobals // Constant.
	node = Kind{Kind: "Node"} //nolint:gochecknoglobals // Constant.
)

// object is a member of the group for its references. A pod is also a member of the group for its node.
type object struct {
	key    string
	groups [2]uint32
	next   [2]uint32 // The next member of each group.
}

// group contains objects with the same shape.
type group struct {
	text     string // The packed shape.
	selector *objectrefs.Selector
	first    uint32 // The first member.
}

// link is an entry in the list of groups that a term finds.
type link struct {
	hash  uint64 // Of the term. Two terms with the same hash are too improbable to matter.
	group uint32
	next  uint32 // The next link of the term.
}

// New returns an empty Graph. isNamespaced reports whether objects of a kind have a namespace; ok is false if the
// cluster does not serve the kind.
func New(isNamespaced func(Kind) (namespaced, ok bool)) *Graph {
	g := &Graph{isNamespaced: isNamespaced, seed: maphash.MakeSeed()}
	g.Clear()
	return g
}

// Clear removes all objects.
func (g *Graph) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.objects, g.groups, g.links = slab[object]{}, slab[group]{}, slab[link]{}
	g.byID = table{hash: func(n uint32) uint64 { return g.hashOfID(g.idLocked(g.objects.at(n))) }}
	g.byText = table{hash: func(n uint32) uint64 { return maphash.String(g.seed, g.groups.at(n).text) }}
	g.byTerm = table{hash: func(n uint32) uint64 { return g.links.at(n).hash }}
}

// Set adds an object, or replaces its references. It reports whether the references or labels are new.
func (g *Graph) Set(id ID, o *objectrefs.Object) (changed bool) {
	references, onNode := g.shapesOf(id, o)
	texts := [2]string{references.pack(), ""}
	if onNode != nil {
		texts[1] = onNode.pack()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	number := g.findLocked(id)
	isNew := number == 0
	if isNew {
		number = g.objects.add(object{key: id.Key})
	} else {
		m := g.objects.at(number)
		m.key = id.Key // Share the memory of the copy of the key that the caller stores from now on.
		if texts == [2]string{g.groups.at(m.groups[0]).text, g.groups.at(m.groups[1]).text} {
			return false
		}
		g.leaveLocked(number)
	}
	g.joinLocked(number, 0, texts[0], o.Selects)
	if onNode != nil {
		g.joinLocked(number, 1, texts[1], nil)
	}
	if isNew {
		g.byID.add(number)
	}
	return true
}

// Remove removes an object.
func (g *Graph) Remove(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if number := g.findLocked(id); number != 0 {
		g.byID.remove(number)
		g.leaveLocked(number)
		g.objects.remove(number)
	}
}

// shapesOf returns the shape of an object. For a pod on a node, it also returns the shape of all pods on this node.
func (g *Graph) shapesOf(id ID, o *objectrefs.Object) (references shape, onNode *shape) {
	references = shape{kind: id.Kind, namespace: id.Namespace()}
	for n := range o.Uses {
		r := &o.Uses[n]
		if id.Kind == pod && r.Kind == node.Kind && r.Group == "" {
			onNode = &shape{kind: pod, uses: []Use{{Target: NewID(node, "", r.Name)}}}
			continue
		}
		if target, ok := g.resolve(r, references.namespace); ok {
			references.uses = append(references.uses, Use{target, r.Via, r.Optional})
		}
	}
	for n := range o.Owners {
		r := &o.Owners[n]
		if target, ok := g.resolve(r, references.namespace); ok {
			references.owners = append(references.owners, Owner{target, r.UID})
		}
	}
	if o.Selects != nil {
		references.selecting = id.Key + " " + o.Selects.String()
	}
	if id.Kind == pod {
		references.labels = o.Labels
	}
	return references, onNode
}

// resolve returns the object to which a reference from a namespace refers. If the kind is not served, the result has a
// namespace, although the kind can be cluster-scoped.
func (g *Graph) resolve(r *objectrefs.Ref, namespace string) (id ID, ok bool) {
	kind := Kind{r.Group, r.Kind}
	if r.Namespace != "" {
		namespace = r.Namespace
	}
	if isNamespaced, isServed := g.isNamespaced(kind); isServed && !isNamespaced {
		namespace = ""
	} else if isServed && namespace == "" {
		return ID{}, false
	}
	return NewID(kind, namespace, r.Name), true
}

// joinLocked adds an object to the group with the packed shape text. It creates the group if there is none.
func (g *Graph) joinLocked(number uint32, at int, text string, selector *objectrefs.Selector) {
	var joined uint32
	if slot := g.byText.find(maphash.String(g.seed, text), func(n uint32) bool {
		return g.groups.at(n).text == text
	}); slot != nil {
		joined = *slot
	} else {
		joined = g.groups.add(group{text: text, selector: selector})
		g.byText.add(joined)
		g.linkLocked(joined)
	}
	m, to := g.objects.at(number), g.groups.at(joined)
	m.groups[at], m.next[at], to.first = joined, to.first, number
}

// leaveLocked removes an object from its groups. It also removes groups that then have no members.
func (g *Graph) leaveLocked(number uint32) {
	m := g.objects.at(number)
	for at, left := range m.groups {
		if left == 0 {
			continue
		}
		from := g.groups.at(left)
		next := &from.first
		for *next != number {
			next = &g.objects.at(*next).next[at]
		}
		*next = m.next[at]
		if from.first == 0 {
			g.byText.remove(left)
			g.unlinkLocked(left)
			g.groups.remove(left)
		}
	}
	m.groups, m.next = [2]uint32{}, [2]uint32{}
}

// linkLocked adds a group to the lists of its terms.
func (g *Graph) linkLocked(number uint32) {
	for _, t := range g.termsLocked(number) {
		added := link{hash: g.hashOf(t), group: number}
		if first := g.findTermLocked(added.hash); first != nil {
			added.next = *first
			*first = g.links.add(added)
		} else {
			g.byTerm.add(g.links.add(added))
		}
	}
}

// unlinkLocked removes a group from the lists of its terms.
func (g *Graph) unlinkLocked(number uint32) {
	for _, t := range g.termsLocked(number) {
		first := g.findTermLocked(g.hashOf(t))
		next := first
		for g.links.at(*next).group != number {
			next = &g.links.at(*next).next
		}
		removed := *next
		if rest := g.links.at(removed).next; rest != 0 || next != first {
			*next = rest
		} else {
			g.byTerm.remove(removed)
		}
		g.links.remove(removed)
	}
}

func (g *Graph) termsLocked(number uint32) []term {
	n := g.groups.at(number)
	s := unpack(n.text)
	return s.terms(n.selector)
}
