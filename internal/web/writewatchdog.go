package web

import (
	"sync"
	"time"
)

// writeWatchdog ends a connection if one write takes longer than writeTimeout. One timer serves all writes, because a
// separate timer would make every write slower. When the timer fires, it checks the write in progress.
type writeWatchdog struct {
	abort func()

	mu        sync.Mutex
	timer     *time.Timer // Nil while no timer is set.
	startedAt time.Time   // When the current write began; zero if no write is in progress.
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

// expired reports whether the write in progress has taken longer than writeTimeout. If the write still has time,
// expired restarts the timer for the rest of that time.
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
