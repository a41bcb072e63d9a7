package relations

import (
	"encoding/json"
	"unique"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/objectrefs"
	"glasshouse/internal/watch/resource"
)

// finder builds the Graph of one object. It is not safe for concurrent use.
type finder struct {
	access   *watch.Access
	resource *resource.Resource
	kind     string // The resource of f.object, as group/resource.
	object   objectrefs.Object
	known    []watch.ResourceStatus
	lists    []*list
	graph    Graph

	nodes    map[string]int // Index in graph.Nodes, by node ID.
	edges    map[Edge]bool  // Existing edges. In these keys, Via is empty.
	groups   map[group]int  // Number of objects that have a node of their own, by group.
	withNode []*entry       // All objects with a node: their own, or one that counts similar objects.
	pods     []*entry
	reads    int // Number of objects that were read individually.
	labels   labelSets
}

// group identifies similar objects: they have the same kind, namespace and owner.
type group struct {
	list      *list
	namespace string
	owner     string // UID of the first owner. If there is a managing controller, it is the first owner.
}

func idOf(resource, namespace, name string) string {
	if namespace == "" {
		namespace = "_"
	}
	return resource + "/" + namespace + "/" + name
}

func (f *finder) self() string {
	return idOf(f.kind, f.object.Namespace, f.object.Name)
}

// add adds a node, unless the graph already contains a node with this ID or has maxNodes nodes. It reports whether
// the graph contains the node after the call.
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

// link adds an edge between two existing nodes, if the graph does not contain it yet. from and to are the IDs of the
// nodes. kind and via are the values of the edge's fields Type and Via.
func (f *finder) link(from, to, kind, via string) {
	e := Edge{From: from, To: to, Type: kind}
	if from == to || f.edges[e] {
		return
	}
	f.edges[e] = true
	e.Via = via
	f.graph.Edges = append(f.graph.Edges, e)
}

// assignNodes gives each object a node. In each group (objects with the same kind, namespace and owner), the first
// objects get nodes of their own. The others share one node, which contains their number.
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
		_, exists := f.nodes[node.ID] // The node can already exist, because the object is an owner or is used.
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

// ownID returns the ID of a node for only this object. The graph need not contain such a node.
func (e *entry) ownID() string { return idOf(e.list.kind, e.Namespace(), e.Name()) }

func (e *entry) group() group {
	g := group{list: e.list, namespace: e.Namespace()}
	if len(e.owners) > 0 {
		g.owner = e.owners[0].UID
	}
	return g
}

type labelSets map[unique.Handle[string]]map[string]string

func (l labelSets) of(text unique.Handle[string]) map[string]string {
	set, ok := l[text]
	if !ok {
		if err := json.Unmarshal([]byte(text.Value()), &set); err != nil {
			set = nil
		}
		l[text] = set
	}
	return set
}
