package journal

import "sync/atomic"

// waiters is where readers of a journal wait until the writer wakes them.
type waiters struct {
	count  atomic.Int64
	waking atomic.Bool                   // A goroutine is about to wake the readers.
	signal atomic.Pointer[chan struct{}] // Closed, and replaced by a new channel, to wake all readers.
}

func (b *waiters) init() {
	signal := make(chan struct{})
	b.signal.Store(&signal)
}

// wait registers a reader that will wait until woken is closed. After lie, and before it waits, the reader must check
// the tail once more: woken is closed for any change that this check misses. After the wait, the reader must call rise.
func (b *waiters) wait() (woken <-chan struct{}) {
	b.count.Add(1)
	return *b.signal.Load()
}

func (b *waiters) done() { b.count.Add(-1) }

// wake wakes the waiting readers, in constant time. The caller publishes what they read before it calls ring.
func (b *waiters) wake() {
	if b.count.Load() > 0 && b.waking.CompareAndSwap(false, true) {
		go b.wakeAll()
	}
}

func (b *waiters) wakeAll() {
	b.waking.Store(false) // Before the swap: a later ring may find new waiters.
	signal := make(chan struct{})
	close(*b.signal.Swap(&signal))
}
