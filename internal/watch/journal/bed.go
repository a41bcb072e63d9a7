package journal

import "sync/atomic"

// bed is where readers of a journal wait until the writer wakes them.
type bed struct {
	asleep atomic.Int64
	rung   atomic.Bool                   // A goroutine is about to wake the readers.
	wake   atomic.Pointer[chan struct{}] // Closed, and replaced by a new channel, to wake all readers.
}

func (b *bed) init() {
	wake := make(chan struct{})
	b.wake.Store(&wake)
}

// lie registers a reader that will wait until woken is closed. After lie, and before it waits, the reader must check
// the tail once more: woken is closed for any change that this check misses. After the wait, the reader must call rise.
func (b *bed) lie() (woken <-chan struct{}) {
	b.asleep.Add(1)
	return *b.wake.Load()
}

func (b *bed) rise() { b.asleep.Add(-1) }

// ring wakes the waiting readers, in constant time. The caller publishes what they read before it calls ring.
func (b *bed) ring() {
	if b.asleep.Load() > 0 && b.rung.CompareAndSwap(false, true) {
		go b.wakeAll()
	}
}

func (b *bed) wakeAll() {
	b.rung.Store(false) // Before the swap: a later ring may find new waiters.
	wake := make(chan struct{})
	close(*b.wake.Swap(&wake))
}
