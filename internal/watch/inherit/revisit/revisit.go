// Package revisit evaluates objects again at a known time, such as the expiry of a certificate.
package revisit

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Tracker evaluates objects again. It keeps at most one time for each object. The zero value is ready to use.
type Tracker struct {
	mu      sync.Mutex
	pending map[graph.ID]*time.Timer
}

// Schedule calls mark with an object at a time, instead of the time of an earlier call. The zero time means never.
func (t *Tracker) Schedule(id graph.ID, at time.Time, mark func(...graph.ID)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancelLocked(id)
	if at.IsZero() {
		return
	}
	if t.pending == nil {
		t.pending = make(map[graph.ID]*time.Timer)
	}
	var timer *time.Timer
	timer = time.AfterFunc(time.Until(at), func() {
		if t.end(id, timer) {
			mark(id)
		}
	})
	t.pending[id] = timer
}

// end removes a timer that has fired. It returns false if another call has canceled or replaced the timer meanwhile.
func (t *Tracker) end(id graph.ID, timer *time.Timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending[id] != timer {
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
	if timer, ok := t.pending[id]; ok {
		timer.Stop()
		delete(t.pending, id)
	}
}
