package revisit

import (
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Unread contains the kinds that rules could not read yet, each with the kinds of the objects that the rules evaluated.
// The zero value is ready to use.
type Unread struct {
	mu     sync.Mutex
	askers map[graph.Kind]map[graph.Kind]bool
}

// Add records that a rule for an object of the kind asker needs the objects of a kind that is not read yet.
func (u *Unread) Add(kind, asker graph.Kind) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.askers == nil {
		u.askers = make(map[graph.Kind]map[graph.Kind]bool)
	}
	if u.askers[kind] == nil {
		u.askers[kind] = make(map[graph.Kind]bool)
	}
	u.askers[kind][asker] = true
}

// Take removes a kind, and returns the kinds of the objects whose rules needed it.
func (u *Unread) Take(kind graph.Kind) map[graph.Kind]bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	askers := u.askers[kind]
	delete(u.askers, kind)
	return askers
}
