package web

import (
	"slices"
	"strings"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/order"
)

// sorted are the objects in the order that sort asks for: a column's name in
// any case, with "-" before it for the other way round. Without one, or with
// one that is not there, the order is that of namespace and name.
func sorted(snapshot *watch.Snapshot, sort string) []*watch.Item {
	name, descending := strings.CutPrefix(order.Lower(sort), "-")
	column := slices.IndexFunc(snapshot.Columns, func(c watch.Column) bool { return order.Lower(c.Name) == name })
	objects := snapshot.Objects
	if column < 0 && name != "namespace" {
		return objects
	}
	ranks := make(map[*watch.Item]order.Rank, len(objects))
	for _, o := range objects {
		if column < 0 {
			ranks[o] = order.Natural(o.Namespace())
		} else {
			ranks[o] = order.Cell(o.Cell(column), snapshot.Columns[column].Relative)
		}
	}
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b *watch.Item) int { return order.Compare(ranks[a], ranks[b], descending) })
	return objects
}
