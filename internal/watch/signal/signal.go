// Package signal makes goroutines wait for an event or for a time.
package signal

import (
	"context"
	"sync"
	"time"
)

// Signal wakes all goroutines that wait for a change of some state.
type Signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// New returns a Signal for which no goroutine waits.
func New() *Signal { return &Signal{ch: make(chan struct{})} }

// Next returns a channel that the next Broadcast closes. Call Next before reading the state. Otherwise a change
// between reading and waiting is missed.
func (s *Signal) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// Broadcast closes the channel that Next returned, and so wakes all goroutines that wait for it.
func (s *Signal) Broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// Sleep waits for the duration, or until ctx ends. If the duration is not positive, it creates no timer. In a
// synctest bubble, two timers that expire at the same time crash Go 1.26 with the race detector.
func Sleep(ctx context.Context, duration time.Duration) {
	if duration <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}

// Ticks returns an iterator that yields once per interval, until ctx ends.
func Ticks(ctx context.Context, every time.Duration) func(yield func() bool) {
	return func(yield func() bool) {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if !yield() {
				return
			}
		}
	}
}
