package relations

import (
	"encoding/json"
	"unique"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/objectrefs"
	"glasshouse/internal/watch/resource"
)

// finder builds the Graph of one object. Only one goroutine may use it.
type finder struct {
	access   *watch.Access
	resource *resource.Resource
	kind     string // The kind of the object, as group/resource.
	object   objectrefs.Object
	known    []watch.ResourceStatus
	lists    []*list
	graph    Graph

	nodes    map[string]int // Index in graph.Nodes by ID.
	edges    map[Edge]bool  // The existing edges, without Via.
	groups   map[group]int  // Number of objects of the group that have a node of their own.
	withNode []*entry       // Objects that have a node of their own, or are counted in a shared one.
	pods     []*entry       // The pods that the object selects.
	reads    int            // Number of objects that were read one by one.
	labels   labelSets
}

// group identifies objects that are alike: they have the same kind, namespace and owner.
type group struct {
	list      *list
	namespace string
	owner     string // UID of the first owner, which is the managing controller if there is one.
}

func idOf(resource, namespace, name string) string {
	if namespace == "" {
		namespace = "_"
	}
	return resource + "/" + namespace + "/" + name
}

// self returns the ID of the node for the object itself.
func (f *finder) self() string {
	return idOf(f.kind, f.object.Namespace, f.object.Name)
}

// add adds a node, and reports whether the graph had room for it. An existing node stays as it is.
func (f *finder) add(n Node) bool {
	if _, ok := f.nodes[n.ID]; ok {
		return true
	}
	if len(f.graph.Nodes) >= maxNodes {
		f.graph.Truncated = true
		return false
	}
	f.nodes[n.ID] = len(f.graph.Nodes)
	f.graph.Nodes = append(f.graph.Nodes, n)
	return true
}

// link adds an edge between existing nodes, unless the graph has it already.
func (f *finder) link(from, to, kind, via string) {
	e := Edge{From: from, To: to, Type: kind}
	if from == to || f.edges[e] {
		return
	}
	f.edges[e] = true
	e.Via = via
	f.graph.Edges = append(f.graph.Edges, e)
}

// assignNodes assigns nodes to objects. The first few objects of each group have their own nodes. The others share one
// node, which counts them.
func (f *finder) assignNodes(entries []*entry) {
	entryGroups := make(map[group]bool)
	for _, e := range entries {
		entryGroups[e.group()] = true
	}
	maxOwn := min(maxPerGroup, max(1, maxOwnNodes/max(1, len(entryGroups))))
	for _, e := range entries {
		if e.id != "" {
			continue
		}
		g := e.group()
		node := Node{
			ID: e.ownID(), Ref: e.list.resource.Ref(), Kind: e.list.resource.Kind,
			Namespace: e.Namespace(), Name: e.Name(), UID: e.UID(), State: Present,
		}
		_, exists := f.nodes[node.ID] // It exists as an owner, or as a used object.
		if !exists && f.groups[g] >= maxOwn {
			node.ID, node.Name, node.UID = idOf(e.list.kind, e.Namespace(), "+"+g.owner), "", "" // No name contains a +.
		}
		if !f.add(node) {
			continue
		}
		e.id = node.ID
		f.withNode = append(f.withNode, e)
		if node.Name == "" {
			f.graph.Nodes[f.nodes[node.ID]].Count++
		} else {
			f.groups[g]++
		}
	}
}

// ownID returns the ID of the node for this entry alone. That node need not exist.
func (e *entry) ownID() string { return idOf(e.list.kind, e.Namespace(), e.Name()) }

func (e *entry) group() group {
	g := group{list: e.list, namespace: e.Namespace()}
	if len(e.owners) > 0 {
		g.owner = e.owners[0].UID
	}
	return g
}

// labelSets caches parsed labels by their text. Most objects share their text with others.
type labelSets map[unique.Handle[string]]map[string]string

func (l labelSets) of(text unique.Handle[string]) map[string]string {
	set, ok := l[text]
	if !ok {
		if err := json.Unmarshal([]byte(text.Value()), &set); err != nil {
			set = nil // Malformed labels match like an empty set.
		}
		l[text] = set
	}
	return set
}
