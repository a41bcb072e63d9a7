package revisit

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Interval is the minimum time between two evaluations because of new or deleted objects of one kind in one namespace.
const Interval = time.Minute

// AllOf returns an ID that means all objects of a kind in a namespace. An empty namespace means the cluster.
func AllOf(kind graph.Kind, namespace string) graph.ID { return graph.NewID(kind, namespace, "") }

// Limiter limits how often objects that depend on all objects of a kind are evaluated again, because the objects of
// some kinds are created and deleted all the time. The zero value is ready to use.
type Limiter struct {
	mu      sync.Mutex
	started map[graph.ID]*limit
}

// limit lasts for one Interval.
type limit struct {
	timer      *time.Timer
	isExceeded bool // Do was called again in this Interval.
}

// Do calls mark: at once, or at the end of the Interval that an earlier call with the same ID has started. Of several
// calls in one Interval, only the first one has this effect.
func (l *Limiter) Do(all graph.ID, mark func()) {
	l.mu.Lock()
	if present := l.started[all]; present != nil {
		present.isExceeded = true
		l.mu.Unlock()
		return
	}
	l.startLocked(all, mark)
	l.mu.Unlock()
	mark()
}

func (l *Limiter) startLocked(all graph.ID, mark func()) {
	if l.started == nil {
		l.started = make(map[graph.ID]*limit)
	}
	started := &limit{}
	started.timer = time.AfterFunc(Interval, func() {
		if l.end(all, started, mark) {
			mark()
		}
	})
	l.started[all] = started
}

// end ends a limit whose Interval has passed, and starts the next one if the limit was exceeded. It reports whether to
// call mark. It returns false if a call of Reset has removed the limit in the meantime.
func (l *Limiter) end(all graph.ID, ended *limit, mark func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started[all] != ended {
		return false
	}
	delete(l.started, all)
	if ended.isExceeded {
		l.startLocked(all, mark)
	}
	return ended.isExceeded
}

// Reset forgets all calls.
func (l *Limiter) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, started := range l.started {
		started.timer.Stop()
	}
	clear(l.started)
}
