package relations

import (
	"encoding/json"
	"unique"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

type finder struct {
	access   *watch.Access
	resource *resource.Resource
	kind     string // group/resource
	object   objectrefs.Object
	known    []watch.ResourceStatus
	lists    []*list
	graph    Graph

	nodes    map[string]int // index in graph.Nodes, by node ID
	edges    map[Edge]bool
	groups   map[group]int
	withNode []*entry
	pods     []*entry
	reads    int
	labels   labelSets
}

type group struct {
	list      *list
	namespace string
	owner     string // UID of the first owner, which is the managing controller if there is one
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

// add adds a node, up to maxNodes. It reports whether the graph contains the node after the call.
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

func (f *finder) link(from, to, kind, via string) {
	e := Edge{From: from, To: to, Type: kind}
	if from == to || f.edges[e] {
		return
	}
	f.edges[e] = true
	e.Via = via
	f.graph.Edges = append(f.graph.Edges, e)
}

// assignNodes gives the first objects of each group their own nodes. All other objects of a group share one node.
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
		_, exists := f.nodes[node.ID] // exists if the object is an owner or is used
		if !exists && f.groups[g] >= maxOwn {
			node.ID, node.Name, node.UID = idOf(e.list.kind, e.Namespace(), "+"+g.owner), "", "" // no object name contains a +
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
