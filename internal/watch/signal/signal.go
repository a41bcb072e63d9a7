// Package signal makes goroutines wait for an event, or for some time.
package signal

import (
	"context"
	"sync"
	"time"
)

// Signal wakes all goroutines that wait for a change of some data.
type Signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// New returns a Signal for which no goroutine waits.
func New() *Signal { return &Signal{ch: make(chan struct{})} }

// Next returns a channel that the next Broadcast closes. Call Next before you read the data. Otherwise a change after
// the read, but before the call, is missed.
func (s *Signal) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// Broadcast wakes all waiting goroutines: it closes the channel that Next has returned to them.
func (s *Signal) Broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// Sleep waits for the given time, or until ctx ends. If the time is not positive, it creates no timer, because in a
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
