package listen

import (
	"sync"
	"time"
)

// WriteTimeout is the maximum time for writing a message of a WebSocket, or a part of a log.
const WriteTimeout = 10 * time.Second

// WriteWatchdog ends a connection if one write takes longer than WriteTimeout. All writes share one timer for speed.
type WriteWatchdog struct {
	abort func()

	mu        sync.Mutex
	timer     *time.Timer
	startedAt time.Time // When the current write began; zero if no write is in progress.
}

// OnTimeout sets the function that ends the connection. It must be called before Begin.
func (l *WriteWatchdog) OnTimeout(abort func()) { l.abort = abort }

// Begin records that a write begins.
func (l *WriteWatchdog) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startedAt = time.Now()
	if l.timer == nil {
		l.timer = time.AfterFunc(WriteTimeout, l.check)
	}
}

// End records that the write has ended.
func (l *WriteWatchdog) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startedAt = time.Time{}
}

// Stop stops the timer. Begin must not be called after Stop.
func (l *WriteWatchdog) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *WriteWatchdog) check() {
	if l.expired() {
		l.abort()
	}
}

// expired reports whether the current write has timed out. If not, it restarts the timer for the remaining time.
func (l *WriteWatchdog) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := WriteTimeout - time.Since(l.startedAt)
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
