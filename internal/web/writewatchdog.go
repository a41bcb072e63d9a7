package web

import (
	"sync"
	"time"
)

// writeWatchdog ends a connection if one write takes longer than writeTimeout. A timer that is set and stopped for each write
// would add to the cost of every write. Instead, one timer keeps running while there are writes, and checks the current
// write when it fires.
type writeWatchdog struct {
	abort func()

	mu        sync.Mutex
	timer     *time.Timer // Nil while no timer is set.
	startedAt time.Time   // When the current write began; zero if there is none.
}

func (l *writeWatchdog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startedAt = time.Now()
	if l.timer == nil {
		l.timer = time.AfterFunc(writeTimeout, l.check)
	}
}

func (l *writeWatchdog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startedAt = time.Time{}
}

func (l *writeWatchdog) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *writeWatchdog) check() {
	if l.expired() {
		l.abort()
	}
}

// expired reports whether the current write is late. If it still has time, over sets the timer again.
func (l *writeWatchdog) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := writeTimeout - time.Since(l.startedAt)
	switch {
	case l.startedAt.IsZero():
		l.timer = nil
	case left > 0:
		l.timer.Reset(left)
	default:
		return true
	}
	return false
}
