package graph

// Size returns the number of entries of all indexes.
func (g *Graph) Size() int {
	size := len(g.groups) + len(g.users) + len(g.owned) + len(g.onNode)
	for _, lists := range []map[string]map[string][]*group{g.pods, g.selectors} {
		for _, byLabel := range lists {
			size += len(byLabel)
		}
	}
	return size
}
