package journal

import "sync/atomic"

type waiters struct {
	count  atomic.Int64
	waking atomic.Bool                   // a goroutine has started and will soon wake the readers
	signal atomic.Pointer[chan struct{}] // a channel that is closed to wake all readers; each wake replaces it
}

func (b *waiters) init() {
	signal := make(chan struct{})
	b.signal.Store(&signal)
}

// wait registers a waiting reader. The reader must then check the tail again, and finally call done.
func (b *waiters) wait() (woken <-chan struct{}) {
	b.count.Add(1)
	return *b.signal.Load()
}

func (b *waiters) done() { b.count.Add(-1) }

// wake wakes all waiting readers in constant time. The caller must publish the new tail first.
func (b *waiters) wake() {
	if b.count.Load() > 0 && b.waking.CompareAndSwap(false, true) {
		go b.wakeAll()
	}
}

func (b *waiters) wakeAll() {
	b.waking.Store(false) // must precede Swap, so that a wake after Swap is not skipped
	signal := make(chan struct{})
	close(*b.signal.Swap(&signal))
}
