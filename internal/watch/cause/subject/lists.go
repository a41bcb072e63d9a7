package subject

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// The functions of this file return whether a list is complete. Only a complete list proves that no object of a kind
// meets a condition, or that only one object does.

// AllOf returns at most limit objects of a kind in a namespace or in neighbor.AnyNamespace. isComplete is false if
// further ones possibly exist.
func AllOf(s *Subject, kind graph.Kind, namespace string, limit int) (all []neighbor.Neighbor, isComplete bool) {
	all = s.All(kind, namespace, limit)
	return all, len(all) < limit && KnowsAll(s, kind, strings.TrimPrefix(namespace, neighbor.AnyNamespace))
}

// PodsOf returns at most limit pods of a namespace that a selector selects. isComplete is false if it possibly selects
// further ones.
func PodsOf(
	s *Subject, namespace string, selector *objectrefs.Selector, limit int,
) (pods []neighbor.Neighbor, isComplete bool) {
	ids := s.Selected(namespace, selector, limit)
	return s.Existing(ids), len(ids) < limit && KnowsAll(s, graph.Kind{Kind: "Pod"}, namespace)
}

// OwnedBy returns at most limit objects whose owner has a UID. isComplete is false if there are further ones
// among the objects that are known.
func OwnedBy(s *Subject, uid string, limit int) (owned []neighbor.Neighbor, isComplete bool) {
	ids := s.Owned(uid, limit)
	return s.Existing(ids), len(ids) < limit
}

// UsersOf returns at most limit objects that use an object. isComplete is false if there are further ones among the
// objects that are known.
func UsersOf(s *Subject, id graph.ID, limit int) (users []graph.ID, isComplete bool) {
	users = s.Users(id, limit)
	return users, len(users) < limit
}
