package web

import (
	"sync"
	"time"
)

// late ends a connection if one write takes longer than writeTimeout. A timer that is set and stopped for each write
// would add to the cost of every write. Instead, one timer keeps running while there are writes, and checks the current
// write when it fires.
type late struct {
	cut func()

	mu    sync.Mutex
	timer *time.Timer // Nil while no timer is set.
	began time.Time   // When the current write began; zero if there is none.
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

// over reports whether the current write is late. If it still has time, over sets the timer again.
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
