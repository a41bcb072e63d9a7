// Package overdue evaluates an object again when its progress becomes overdue, because the API server possibly sends no
// update of the object at that time.
package overdue

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// Tracker remembers when each object becomes overdue.
type Tracker struct {
	reevaluate func(key string, now time.Time)

	mu     sync.Mutex // Locked while objects are written, so that an old version never replaces a newer one.
	at     map[string]time.Time
	timer  *time.Timer
	next   time.Time
	closed bool
}

// New returns a Tracker. The function reevaluate must determine the verdict on the object with the given key at the
// time now, and store a copy of the object with this verdict. It must not call the Tracker, which would cause a
// deadlock.
func New(reevaluate func(key string, now time.Time)) *Tracker {
	return &Tracker{reevaluate: reevaluate}
}

// Write calls the function change, which must write the objects in the parameter written. Write then remembers when
// these objects become overdue.
func (t *Tracker) Write(change func(), written ...journal.Entry[string, *compact.Object]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	for n := range written {
		t.rememberLocked(&written[n])
	}
}

func (t *Tracker) rememberLocked(e *journal.Entry[string, *compact.Object]) {
	at := e.Value.Verdict().OverdueAt()
	if at.IsZero() {
		delete(t.at, e.Key)
		return
	}
	if t.at == nil {
		t.at = make(map[string]time.Time)
	}
	t.at[e.Key] = at
	if t.next.IsZero() || at.Before(t.next) {
		t.scheduleLocked(at)
	}
}

func (t *Tracker) scheduleLocked(at time.Time) {
	if t.closed {
		return
	}
	t.next = at
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(at), t.evaluate)
		return
	}
	t.timer.Reset(time.Until(at))
}

// evaluate calls reevaluate for each object that is overdue now.
func (t *Tracker) evaluate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.next = time.Time{}
	var next time.Time
	for key, at := range t.at {
		if at.After(now) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		delete(t.at, key)
		t.reevaluate(key, now)
	}
	if !next.IsZero() {
		t.scheduleLocked(next)
	}
}

// Close stops the timer of the Tracker, so that it evaluates no more objects.
func (t *Tracker) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
