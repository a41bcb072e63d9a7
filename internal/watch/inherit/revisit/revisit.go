// Package revisit evaluates new objects again when their age matters.
package revisit

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// Tracker evaluates new objects again when they are old enough that a missing neighbor is a problem. The zero value is
// ready to use.
type Tracker struct {
	mu      sync.Mutex
	pending map[graph.ID]struct{}
}

// Schedule calls mark when the object reaches subject.SettleTime, if a rule for its kind depends on its age.
func (t *Tracker) Schedule(n *neighbor.Neighbor, mark func(...graph.ID)) {
	if n.Object == nil || n.ID.Kind != (graph.Kind{Kind: "Service"}) {
		return
	}
	wait := time.Until(n.Object.Created().Add(subject.SettleTime))
	if wait <= 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.pending[n.ID]; ok {
		return
	}
	if t.pending == nil {
		t.pending = make(map[graph.ID]struct{})
	}
	t.pending[n.ID] = struct{}{}
	id := n.ID // Does not keep the object in memory.
	time.AfterFunc(wait, func() {
		t.mu.Lock()
		delete(t.pending, id)
		t.mu.Unlock()
		mark(id)
	})
}
