package revisit

import (
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Unread contains the kinds that rules could not read yet, each with the kinds of the objects that the rules evaluated.
// The zero value is ready to use.
type Unread struct {
	mu         sync.Mutex
	dependents map[graph.Kind]map[graph.Kind]bool
}

// Add records that a rule needs the objects of a kind that is not read yet. dependent is the kind of the object that
// the rule explains.
func (u *Unread) Add(kind, dependent graph.Kind) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dependents == nil {
		u.dependents = make(map[graph.Kind]map[graph.Kind]bool)
	}
	if u.dependents[kind] == nil {
		u.dependents[kind] = make(map[graph.Kind]bool)
	}
	u.dependents[kind][dependent] = true
}

// Take removes a kind, and returns the kinds of the objects whose rules needed it.
func (u *Unread) Take(kind graph.Kind) map[graph.Kind]bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	dependents := u.dependents[kind]
	delete(u.dependents, kind)
	return dependents
}
