package web

import (
	"sync"
	"time"
)

// late ends a connection of which a write takes longer than writeTimeout. A timer that
// is set and stopped for each costs some of every write: this one goes on, and
// looks when it comes, for as long as there are writes.
type late struct {
	cut func()

	mu    sync.Mutex
	timer *time.Timer // Nil while none is set.
	began time.Time   // Of the write that is under way; zero for none.
}

func (l *late) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Now()
	if l.timer == nil {
		l.timer = time.AfterFunc(writeTimeout, l.look)
	}
}

func (l *late) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Time{}
}

func (l *late) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *late) look() {
	if l.over() {
		l.cut()
	}
}

// over reports whether the write that is under way is late; where it is not yet, the
// timer is set again.
func (l *late) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := writeTimeout - time.Since(l.began)
	switch {
	case l.began.IsZero():
		l.timer = nil
	case left > 0:
		l.timer.Reset(left)
	default:
		return true
	}
	return false
}
