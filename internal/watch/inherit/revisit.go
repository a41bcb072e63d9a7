package inherit

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// revisits evaluates new objects again when they are old enough that a missing neighbor is a problem.
type revisits struct {
	mu      sync.Mutex
	pending map[graph.ID]struct{}
}

// schedule calls mark when the object reaches subject.SettleTime, if a rule for its kind depends on its age.
func (r *revisits) schedule(n *neighbor.Neighbor, mark func(...graph.ID)) {
	if n.Object == nil || n.ID.Kind != (graph.Kind{Kind: "Service"}) {
		return
	}
	wait := time.Until(n.Object.Created().Add(subject.SettleTime))
	if wait <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.pending[n.ID]; ok {
		return
	}
	if r.pending == nil {
		r.pending = make(map[graph.ID]struct{})
	}
	r.pending[n.ID] = struct{}{}
	id := n.ID // Without the object.
	time.AfterFunc(wait, func() {
		r.mu.Lock()
		delete(r.pending, id)
		r.mu.Unlock()
		mark(id)
	})
}
