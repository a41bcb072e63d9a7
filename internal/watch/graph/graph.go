// Package graph is an index of the references between the objects of a cluster, in both directions. It finds the users,
// owned objects and selectors of an object without a scan of all objects.
//
// Objects of a kind and namespace with the same references and labels, such as the pods of a ReplicaSet, share one
// group. A pod thus takes about 220 bytes, including its key.
package graph

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
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
	// IsNamespaced reports whether objects of a kind have a namespace. ok is false if the kind is not served.
	isNamespaced func(Kind) (namespaced, ok bool)

	mu        sync.RWMutex
	groups    map[[sha256.Size]byte]*group // By identity.
	objects   map[Kind]map[string]member
	users     map[ID][]*group
	owned     map[string][]*group            // By the UID of the owner.
	onNode    map[string]*nodePods           // By the name of the node.
	pods      map[string]map[string][]*group // Groups of pods by namespace and label, "name=value".
	selectors map[string]map[string][]*group // Groups with a pod selector, by namespace and a required label.
}

var (
	pod  = Kind{Kind: "Pod"}  //nolint:gochecknoglobals // Constant.
	node = Kind{Kind: "Node"} //nolint:gochecknoglobals // Constant.
)

// group contains the objects of one kind and namespace with the same references and labels.
type group struct {
	identity  [sha256.Size]byte // The hash of all other fields except keys.
	kind      Kind
	namespace string
	uses      []Use
	owners    []Owner
	labels    map[string]string // Only of pods.
	selector  *objectrefs.Selector
	keys      []string
}

type member struct {
	group *group
	node  *nodePods // The pods of the same node; nil for an object that is not a pod on a node.
}

type nodePods struct {
	node string
	keys []string
}

func (p *nodePods) name() string {
	if p == nil {
		return ""
	}
	return p.node
}

// New returns an empty Graph. isNamespaced reports whether objects of a kind have a namespace; ok is false if the
// cluster does not serve the kind.
func New(isNamespaced func(Kind) (namespaced, ok bool)) *Graph {
	g := &Graph{isNamespaced: isNamespaced}
	g.Clear()
	return g
}

// Clear removes all objects.
func (g *Graph) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups, g.objects = make(map[[sha256.Size]byte]*group), make(map[Kind]map[string]member)
	g.users, g.owned, g.onNode = make(map[ID][]*group), make(map[string][]*group), make(map[string]*nodePods)
	g.pods, g.selectors = make(map[string]map[string][]*group), make(map[string]map[string][]*group)
}

// Set adds an object, or replaces its references. It reports whether the references or labels are new.
func (g *Graph) Set(id ID, o *objectrefs.Object) (changed bool) {
	next, nodeName := g.newGroup(id, o)
	g.mu.Lock()
	defer g.mu.Unlock()
	if known := g.groups[next.identity]; known != nil {
		next = known
	}
	byKey := g.objects[id.Kind]
	if byKey == nil {
		byKey = make(map[string]member)
		g.objects[id.Kind] = byKey
	}
	before, exists := byKey[id.Key]
	if exists && before.group == next && before.node.name() == nodeName {
		return false
	}
	if exists {
		g.unlinkLocked(id.Key, before)
	}
	if len(next.keys) == 0 {
		g.linkGroupLocked(next)
	}
	next.keys = append(next.keys, id.Key)
	byKey[id.Key] = member{next, g.addToNodeLocked(nodeName, id.Key)}
	return true
}

func (g *Graph) addToNodeLocked(name, key string) *nodePods {
	if name == "" {
		return nil
	}
	pods := g.onNode[name]
	if pods == nil {
		pods = &nodePods{node: name}
		g.onNode[name] = pods
	}
	pods.keys = append(pods.keys, key)
	return pods
}

// Remove removes an object.
func (g *Graph) Remove(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m, ok := g.objects[id.Kind][id.Key]; ok {
		g.unlinkLocked(id.Key, m)
		delete(g.objects[id.Kind], id.Key)
	}
}

// Keys returns the keys of all objects of a kind.
func (g *Graph) Keys(kind Kind) []string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Collect(maps.Keys(g.objects[kind]))
}

func (g *Graph) newGroup(id ID, o *objectrefs.Object) (next *group, nodeName string) {
	next = &group{kind: id.Kind, namespace: id.Namespace(), selector: o.Selects}
	for n := range o.Uses {
		r := &o.Uses[n]
		if id.Kind == pod && r.Kind == node.Kind && r.Group == "" {
			nodeName = r.Name
			continue
		}
		if target, ok := g.resolve(r, next.namespace); ok {
			next.uses = append(next.uses, Use{target, r.Via, r.Optional})
		}
	}
	for n := range o.Owners {
		r := &o.Owners[n]
		if target, ok := g.resolve(r, next.namespace); ok {
			next.owners = append(next.owners, Owner{target, r.UID})
		}
	}
	selector := ""
	if o.Selects != nil {
		// Each selecting object has its own group.
		selector = id.Key + " " + o.Selects.String()
	}
	if id.Kind == pod {
		next.labels = o.Labels
	}
	// Encoding strings never fails.
	identity, _ := json.Marshal([]any{
		id.Group, id.Kind.Kind, next.namespace, next.uses, next.owners, next.labels, selector,
	})
	next.identity = sha256.Sum256(identity)
	return next, nodeName
}

// resolve returns the object to which a reference from a namespace refers. A kind that is not served keeps the
// namespace.
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

func (g *Graph) linkGroupLocked(n *group) {
	g.groups[n.identity] = n
	for _, u := range n.uses {
		g.users[u.Target] = append(g.users[u.Target], n)
	}
	for _, o := range n.owners {
		g.owned[o.UID] = append(g.owned[o.UID], n)
	}
	if n.kind == pod {
		for _, label := range podLabels(n) {
			addTo(g.pods, n.namespace, label, n)
		}
	}
	if n.selector != nil {
		addTo(g.selectors, n.namespace, requiredLabel(n.selector), n)
	}
}

// podLabels returns the labels of a group of pods as "name=value", and an empty text.
func podLabels(n *group) []string {
	texts := []string{""}
	for name, value := range n.labels {
		texts = append(texts, name+"="+value)
	}
	return texts
}

// requiredLabel returns one label that each selected pod has, or an empty text.
func requiredLabel(s *objectrefs.Selector) string {
	if required := s.Required(); len(required) > 0 {
		return required[0]
	}
	return ""
}

func addTo(lists map[string]map[string][]*group, namespace, label string, n *group) {
	byLabel := lists[namespace]
	if byLabel == nil {
		byLabel = make(map[string][]*group)
		lists[namespace] = byLabel
	}
	byLabel[label] = append(byLabel[label], n)
}

func (g *Graph) unlinkLocked(key string, m member) {
	m.group.keys = without(m.group.keys, key)
	if m.node != nil {
		if m.node.keys = without(m.node.keys, key); len(m.node.keys) == 0 {
			delete(g.onNode, m.node.node)
		}
	}
	n := m.group
	if len(n.keys) > 0 {
		return
	}
	delete(g.groups, n.identity)
	for _, u := range n.uses {
		removeFrom(g.users, u.Target, n)
	}
	for _, o := range n.owners {
		removeFrom(g.owned, o.UID, n)
	}
	if n.kind == pod {
		for _, label := range podLabels(n) {
			removeFrom(g.pods[n.namespace], label, n)
		}
	}
	if n.selector != nil {
		removeFrom(g.selectors[n.namespace], requiredLabel(n.selector), n)
	}
}

// without removes a value, and changes the order of the others.
func without[T comparable](values []T, value T) []T {
	if at := slices.Index(values, value); at >= 0 {
		last := len(values) - 1
		values[at] = values[last]
		var zero T
		values[last] = zero
		values = values[:last]
	}
	return values
}

func removeFrom[K comparable](lists map[K][]*group, key K, n *group) {
	if rest := without(lists[key], n); len(rest) > 0 {
		lists[key] = rest
	} else {
		delete(lists, key)
	}
}
