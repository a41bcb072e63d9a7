package relations

// graphBuilder adds nodes and edges to a graph, within its limits.
type graphBuilder struct {
	graph Graph

	nodes    map[string]int // index in graph.Nodes, by node ID
	edges    map[Edge]bool
	groups   map[group]int // number of nodes that represent one object, for each group
	withNode []*entry      // entries that have a node or share one
}

type group struct {
	list      *list
	namespace string
	owner     string // UID of the first owner; a managing controller is always first
}

func newGraphBuilder() *graphBuilder {
	return &graphBuilder{
		graph: Graph{Edges: []Edge{}},
		nodes: make(map[string]int), edges: make(map[Edge]bool), groups: make(map[group]int),
	}
}

// add adds a node, up to maxNodes. It reports whether the graph contains the node after the call.
func (b *graphBuilder) add(n Node) bool {
	if _, ok := b.nodes[n.ID]; ok {
		return true
	}
	if len(b.graph.Nodes) >= maxNodes {
		b.graph.Truncated = true
		return false
	}
	b.nodes[n.ID] = len(b.graph.Nodes)
	b.graph.Nodes = append(b.graph.Nodes, n)
	return true
}

func (b *graphBuilder) link(from, to, kind, via string) {
	e := Edge{From: from, To: to, Type: kind}
	if from == to || b.edges[e] {
		return
	}
	b.edges[e] = true
	e.Via = via
	b.graph.Edges = append(b.graph.Edges, e)
}

// assignNodes adds a node for each of the first objects of a group. All other objects of this group share one node.
func (b *graphBuilder) assignNodes(entries []*entry) {
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
			Severity: severityText(e.Verdict().Severity()),
		}
		_, exists := b.nodes[node.ID] // true if the object was added before, as an owner or a used object
		if !exists && b.groups[g] >= maxOwn {
			// An ID with a + is unique, because no object name contains a +.
			node.ID, node.Name, node.UID, node.Severity = idOf(e.list.kind, e.Namespace(), "+"+g.owner), "", "", ""
		}
		if !b.add(node) {
			continue
		}
		e.id = node.ID
		b.withNode = append(b.withNode, e)
		if node.Name == "" {
			b.graph.Nodes[b.nodes[node.ID]].Count++
		} else {
			b.groups[g]++
		}
	}
}

// linkSelector adds an edge from a selecting object to a pod, unless an edge already shows that the object owns the
// pod.
func (b *graphBuilder) linkSelector(from, to, via string) {
	if !b.edges[Edge{From: from, To: to, Type: "owns"}] {
		b.link(from, to, "selects", via)
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

func idOf(resource, namespace, name string) string {
	if namespace == "" {
		namespace = "_"
	}
	return resource + "/" + namespace + "/" + name
}
