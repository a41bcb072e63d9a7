package related

import (
	"encoding/json"
	"unique"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/relate"
)

// finder makes a Graph. It is for one goroutine.
type finder struct {
	access   *watch.Access
	resource *watch.Resource
	kind     string // Its name as group/resource.
	object   relate.Object
	known    []watch.Known
	lists    []*list
	graph    Graph

	nodes  map[string]int // The place of each by its id.
	edges  map[Edge]bool  // Those that there are, without Via.
	groups map[group]int  // How many of it have a node of their own.
	placed []*entry       // Those that have a node, or are counted by one.
	pods   []*entry       // That the object selects.
	looked int            // Objects that were looked up one by one.
	labels labelSets
}

// group is objects that are alike.
type group struct {
	of        *list
	namespace string
	owner     string // The UID of what manages them.
}

func idOf(resource, namespace, name string) string {
	if namespace == "" {
		namespace = "_"
	}
	return resource + "/" + namespace + "/" + name
}

// self is the id of the object.
func (f *finder) self() string {
	return idOf(f.kind, f.object.Namespace, f.object.Name)
}

// add adds a node, and reports whether there is room for it. One that is there is
// left as it is.
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

// link adds an edge between nodes that are there, once.
func (f *finder) link(from, to, kind, via string) {
	e := Edge{From: from, To: to, Type: kind}
	if from == to || f.edges[e] {
		return
	}
	f.edges[e] = true
	e.Via = via
	f.graph.Edges = append(f.graph.Edges, e)
}

// place gives objects their nodes: of those that are alike the first few have one
// each, and the others are counted by one.
func (f *finder) place(entries []*entry) {
	alike := make(map[group]bool)
	for _, e := range entries {
		alike[e.group()] = true
	}
	few := min(maxAlike, max(1, shareAlike/max(1, len(alike))))
	for _, e := range entries {
		if e.id != "" {
			continue
		}
		g := e.group()
		node := Node{
			ID: e.ownID(), Ref: e.of.resource.Ref(), Kind: e.of.resource.Kind,
			Namespace: e.Namespace(), Name: e.Name(), UID: e.UID(), State: There,
		}
		_, there := f.nodes[node.ID] // As an owner, or as something that is used.
		if !there && f.groups[g] >= few {
			node.ID, node.Name, node.UID = idOf(e.of.kind, e.Namespace(), "+"+g.owner), "", "" // No name has a +.
		}
		if !f.add(node) {
			continue
		}
		e.id = node.ID
		f.placed = append(f.placed, e)
		if node.Name == "" {
			f.graph.Nodes[f.nodes[node.ID]].Count++
		} else {
			f.groups[g]++
		}
	}
}

// ownID is the id of its node, if it has one of its own.
func (e *entry) ownID() string { return idOf(e.of.kind, e.Namespace(), e.Name()) }

func (e *entry) group() group {
	g := group{of: e.of, namespace: e.Namespace()}
	if len(e.owners) > 0 {
		g.owner = e.owners[0].UID
	}
	return g
}

// labelSets are sets of labels by their text, which most objects share.
type labelSets map[unique.Handle[string]]map[string]string

func (l labelSets) of(text unique.Handle[string]) map[string]string {
	set, ok := l[text]
	if !ok {
		if err := json.Unmarshal([]byte(text.Value()), &set); err != nil {
			set = nil // Labels that are none match as no labels do.
		}
		l[text] = set
	}
	return set
}
