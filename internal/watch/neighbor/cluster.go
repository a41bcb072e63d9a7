package neighbor

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

const (
	// AnyNamespace makes Cluster.All return the objects of all namespaces.
	AnyNamespace = "*"
	// Limit is the maximum number of neighbors of each relation that a rule reads.
	Limit = 100
)

// Cluster finds the neighbors of objects.
type Cluster interface {
	Find(id graph.ID) Neighbor
	// All returns at most limit objects of a kind in a namespace or in AnyNamespace. The namespace is empty for a
	// cluster-scoped kind.
	All(kind graph.Kind, namespace string, limit int) []Neighbor
	Users(id graph.ID, limit int) []graph.ID
	Owned(uid string, limit int) []graph.ID
	Selected(namespace string, s *objectrefs.Selector, limit int) []graph.ID
	References(id graph.ID) (uses []graph.Use, owners []graph.Owner)
	// Inheritors returns at most limit objects whose verdicts name an object as the cause, or as a step to the cause, in
	// no particular order. isLimited is true if there are more.
	Inheritors(id graph.ID, limit int) (inheritors []Neighbor, isLimited bool)
	Selector(id graph.ID) *objectrefs.Selector
	Now() time.Time
	// RevisitAt requests another evaluation of the object at a time at which its verdict can change without an update.
	RevisitAt(at time.Time)
	// Named returns the objects that m can mean, the likeliest first. by is the object whose message contains m.
	Named(by graph.ID, m *Mention) []Neighbor
}

// Mention is how a message names an object. Kind and Name are never empty. The other fields can be empty.
type Mention struct {
	Kind      string // In upper or lower case; singular or plural.
	Group     string
	Namespace string
	Name      string
	// IsWord is true if the field Kind is a word that is possibly not equal to the kind of the object: the kind contains
	// the word (AppProject contains project), or the word ends with the kind (sourceCluster ends with Cluster). Then the
	// object must be in the group of the object with the message. If its kind equals the word, the object can also be in
	// another group of the same domain. The kinds ConfigMap, Secret, Service and ServiceAccount match in any group if the
	// word equals them or ends with them.
	IsWord bool
	// IsRef is true if the word is the name of a member which states that it is a reference (nodeRoleRef). Then the word
	// can also end with a kind of another group of the same domain.
	IsRef bool
}
