// Package graph is an index of the references between the objects of a cluster, in both directions. It finds the users,
// owned objects and selectors of an object without a scan of all objects.
//
// Objects of a kind and namespace with the same references and labels, such as the pods of a ReplicaSet, share one
// group. A pod thus takes about 55 bytes. The key of the pod needs no additional memory, because the caller and the
// graph share it.
package graph

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// Kind is a kind of objects, such as Deployment, with its API group. The group is empty for the core group.
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

// Graph is an index of the references between the objects of a cluster. It is safe for concurrent use.
type Graph struct {
	// isNamespaced reports whether objects of a kind have a namespace. ok is false if the kind is not served.
	isNamespaced func(Kind) (namespaced, ok bool)

	mu      sync.RWMutex
	storage storage
}

var (
	pod  = Kind{Kind: "Pod"}  //nolint:gochecknoglobals // Constant.
	node = Kind{Kind: "Node"} //nolint:gochecknoglobals // Constant.
)

// New returns an empty Graph. isNamespaced reports whether objects of a kind have a namespace; ok is false if the
// cluster does not serve the kind.
func New(isNamespaced func(Kind) (namespaced, ok bool)) *Graph {
	g := &Graph{isNamespaced: isNamespaced, storage: storage{seed: maphash.MakeSeed()}}
	g.storage.clear()
	return g
}

// Clear removes all objects.
func (g *Graph) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.storage.clear()
}

// Set adds an object, or replaces its references. It reports whether the object, its references or its labels are new.
func (g *Graph) Set(id ID, o *objectrefs.Object) (changed bool) {
	references, onNode := g.shapesOf(id, o)
	texts := [2]string{references.pack(), ""}
	if onNode != nil {
		texts[1] = onNode.pack()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	number := g.storage.find(id)
	isNew := number == 0
	if isNew {
		number = g.storage.objects.add(object{key: id.Key})
	} else {
		m := g.storage.objects.at(number)
		m.key = id.Key // Use the string that the caller stores now, so that the previous copy of the key is freed.
		if texts == [2]string{g.storage.groups.at(m.groups[0]).text, g.storage.groups.at(m.groups[1]).text} {
			return false
		}
		g.storage.leave(number)
	}
	g.storage.join(number, 0, texts[0], o.Selects)
	if onNode != nil {
		g.storage.join(number, 1, texts[1], nil)
	}
	if isNew {
		g.storage.byID.add(number)
	}
	return true
}

// Remove removes an object.
func (g *Graph) Remove(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if number := g.storage.find(id); number != 0 {
		g.storage.byID.remove(number)
		g.storage.leave(number)
		g.storage.objects.remove(number)
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

// resolve returns the object to which a reference from a namespace refers. ok is false if a served kind is namespaced,
// but no namespace is known. The scope of a kind that is not served is unknown, so it counts as namespaced.
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
