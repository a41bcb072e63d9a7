package revisit

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// MaxAffected limits how many objects are evaluated again for one change and one relation (such as "users of").
const MaxAffected = 10_000

// UsersOf returns all objects that use one of the targets in uses. It considers only targets of the given kind.
func UsersOf(g *graph.Graph, uses []graph.Use, kind string) (users []graph.ID) {
	for n := range uses {
		if uses[n].Target.Kind.Kind == kind {
			users = append(users, g.Users(uses[n].Target, MaxAffected)...)
		}
	}
	return users
}

// Served returns the Service of an EndpointSlice, and the objects that use the Service. If the EndpointSlice has no
// label with the name of its Service, Served returns the Services whose names can be the start of its own name.
func Served(g *graph.Graph, slice graph.ID) (affected []graph.ID) {
	service := graph.Kind{Kind: "Service"}
	uses, _ := g.References(slice)
	for n := range uses {
		if uses[n].Target.Kind == service {
			affected = append(append(affected, uses[n].Target), g.Users(uses[n].Target, MaxAffected)...)
		}
	}
	if len(affected) > 0 {
		return affected
	}
	for _, name := range neighbor.ServiceNames(slice.Name()) {
		affected = append(affected, graph.NewID(service, slice.Namespace(), name))
	}
	return affected
}
