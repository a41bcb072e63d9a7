package journal

import (
	"context"
	"sync/atomic"
	"time"
)

// waiters are the readers that wait for the next write.
type waiters struct {
	count  atomic.Int64
	waking atomic.Bool                   // a goroutine has started and will soon wake the readers
	signal atomic.Pointer[chan struct{}] // a channel that is closed to wake all readers; each wake replaces it
}

func (w *waiters) init() {
	signal := make(chan struct{})
	w.signal.Store(&signal)
}

// wait waits for a wake, the timer (ErrNoChange) or the end of ctx. If isMoved returns true, wait returns nil at once.
func (w *waiters) wait(ctx context.Context, timer func() <-chan time.Time, isMoved func() bool) error {
	w.count.Add(1)
	defer w.count.Add(-1)
	woken := *w.signal.Load()
	if isMoved() { // A write before count.Add did not wake this reader, so check for changes now.
		return nil
	}
	select {
	case <-woken:
		return nil
	case <-timer():
		return ErrNoChange
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake wakes all waiting readers in constant time. The caller must publish the new tail first.
func (w *waiters) wake() {
	if w.count.Load() > 0 && w.waking.CompareAndSwap(false, true) {
		go w.wakeAll()
	}
}

func (w *waiters) wakeAll() {
	w.waking.Store(false) // before Swap, so that a call of wake after Swap starts another goroutine
	signal := make(chan struct{})
	close(*w.signal.Swap(&signal))
}
