package journal

import "sync/atomic"

// waiters blocks readers of a journal until the writer wakes them.
type waiters struct {
	count  atomic.Int64
	waking atomic.Bool                   // a goroutine is about to wake the readers
	signal atomic.Pointer[chan struct{}] // closed and replaced by a new channel to wake all readers
}

func (b *waiters) init() {
	signal := make(chan struct{})
	b.signal.Store(&signal)
}

// wait registers a waiting reader. woken is closed at the next write. After the call of wait, the reader must check
// the tail once more, because a write can precede the call. A reader that stops waiting must call done.
func (b *waiters) wait() (woken <-chan struct{}) {
	b.count.Add(1)
	return *b.signal.Load()
}

func (b *waiters) done() { b.count.Add(-1) }

// wake wakes all waiting readers in constant time. The caller must publish the new tail before the call.
func (b *waiters) wake() {
	if b.count.Load() > 0 && b.waking.CompareAndSwap(false, true) {
		go b.wakeAll()
	}
}

func (b *waiters) wakeAll() {
	b.waking.Store(false) // before Swap, so that a later wake also wakes new waiters
	signal := make(chan struct{})
	close(*b.signal.Swap(&signal))
}
