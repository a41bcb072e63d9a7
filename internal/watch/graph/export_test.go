package graph

// Size returns the number of entries of all indexes.
func (g *Graph) Size() int {
	return g.objects.len() + g.groups.len() + g.links.len() + g.byID.count + g.byText.count + g.byTerm.count
}
