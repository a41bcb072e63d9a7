// Package revisit decides which objects are evaluated again. An object is evaluated again at a known time, such as the
// expiry of a certificate, after a change of another object that its messages name, or after the program has read a
// kind that its rules needed. If the rules read all objects of a kind, for example because only one may exist, the
// object is also evaluated again after another object of this kind was created or deleted.
package revisit

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Tracker evaluates objects again. It keeps at most one time for each object. The zero value is ready to use.
type Tracker struct {
	mu      sync.Mutex
	pending map[graph.ID]*revisit
}

// revisit is a planned evaluation of one object.
type revisit struct{ timer *time.Timer }

// Schedule cancels the earlier plan for an object, and plans to call mark with the object at the given time. A zero
// time means never.
func (t *Tracker) Schedule(id graph.ID, at time.Time, mark func(...graph.ID)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancelLocked(id)
	if at.IsZero() {
		return
	}
	if t.pending == nil {
		t.pending = make(map[graph.ID]*revisit)
	}
	planned := &revisit{}
	planned.timer = time.AfterFunc(time.Until(at), func() {
		if t.end(id, planned) {
			mark(id)
		}
	})
	t.pending[id] = planned
}

// end removes a planned evaluation whose timer has fired. It returns false if a call of Schedule, Cancel or Reset has
// replaced or canceled the evaluation in the meantime.
func (t *Tracker) end(id graph.ID, planned *revisit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending[id] != planned {
		return false
	}
	delete(t.pending, id)
	return true
}

// Cancel forgets an object.
func (t *Tracker) Cancel(id graph.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancelLocked(id)
}

// Reset forgets all objects.
func (t *Tracker) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.pending {
		t.cancelLocked(id)
	}
}

func (t *Tracker) cancelLocked(id graph.ID) {
	if planned, ok := t.pending[id]; ok {
		planned.timer.Stop()
		delete(t.pending, id)
	}
}
