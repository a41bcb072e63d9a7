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
func (w *WriteWatchdog) OnTimeout(abort func()) { w.abort = abort }

// Begin records that a write begins.
func (w *WriteWatchdog) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startedAt = time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(WriteTimeout, w.check)
	}
}

// End records that the write has ended.
func (w *WriteWatchdog) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startedAt = time.Time{}
}

// Stop stops the timer. Begin must not be called after Stop.
func (w *WriteWatchdog) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *WriteWatchdog) check() {
	if w.expired() {
		w.abort()
	}
}

// expired reports whether the current write has timed out. If not, it restarts the timer for the remaining time.
func (w *WriteWatchdog) expired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := WriteTimeout - time.Since(w.startedAt)
	switch {
	case w.startedAt.IsZero():
		w.timer = nil
	case left > 0:
		w.timer.Reset(left)
	default:
		return true
	}
	return false
}
