package graph

// Size returns the number of entries of all indexes.
func (g *Graph) Size() int {
	s := &g.storage
	return s.objects.len() + s.groups.len() + s.links.len() + s.byID.count + s.byText.count + s.byTerm.count
}
