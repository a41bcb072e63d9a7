package journal

import "sync/atomic"

// bed is where readers sleep until the writer rings.
type bed struct {
	asleep atomic.Int64
	rung   atomic.Bool                   // Somebody is about to wake them.
	wake   atomic.Pointer[chan struct{}] // Closed, and made anew, to wake all.
}

func (b *bed) init() {
	wake := make(chan struct{})
	b.wake.Store(&wake)
}

// lie says that a reader is about to sleep, until woken is closed; it must look
// once more before it does, and call rise when it is up. Whatever that look did
// not find is rung for.
func (b *bed) lie() (woken <-chan struct{}) {
	b.asleep.Add(1)
	return *b.wake.Load()
}

func (b *bed) rise() { b.asleep.Add(-1) }

// ring wakes who sleeps, in constant time. What they are to see is there before
// it is called.
func (b *bed) ring() {
	if b.asleep.Load() > 0 && b.rung.CompareAndSwap(false, true) {
		go b.wakeAll()
	}
}

func (b *bed) wakeAll() {
	b.rung.Store(false) // Before: who rings from now on may find others asleep.
	wake := make(chan struct{})
	close(*b.wake.Swap(&wake))
}
