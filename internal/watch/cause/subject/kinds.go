package subject

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// maxKinds limits how many CustomResourceDefinitions are searched.
const maxKinds = 10 * neighbor.Limit

// OfAllKinds returns the object with the given namespace and name of each custom kind. For most kinds, this object is
// missing. include selects the API groups; nil selects all. The result is nil if not all custom kinds are known.
func OfAllKinds(s *Subject, include func(string) bool, namespace, name string) (found []neighbor.Neighbor) {
	definition := graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	all, isComplete := AllOf(s, definition, "", maxKinds)
	if !isComplete {
		return nil
	}
	for n := range all {
		plural, group, _ := strings.Cut(all[n].ID.Name(), ".") // The API server requires this form of the name.
		if include == nil || include(group) {
			found = append(found, s.Named(s.ID, &neighbor.Mention{
				Kind: plural, Group: group, Namespace: namespace, Name: name,
			})...)
		}
	}
	return found
}
