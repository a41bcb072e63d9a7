// Package signal makes goroutines wait for a change or for a time.
package signal

import (
	"context"
	"sync"
	"time"
)

// Signal wakes all goroutines that wait for some state to change.
type Signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// New returns a signal that no goroutine waits for.
func New() *Signal { return &Signal{ch: make(chan struct{})} }

// Next returns a channel that is closed when the signal is raised next. Call next before reading the state that may
// change.
func (s *Signal) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// Broadcast wakes all goroutines that wait for the channel of Next.
func (s *Signal) Broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// Sleep waits for the given duration, or until ctx ends. It creates no timer if the duration is not positive: in
// synctest bubbles, two timers that expire at once crash Go 1.26 with the race detector.
func Sleep(ctx context.Context, duration time.Duration) {
	if duration <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}

// Ticks returns an iterator that yields at each interval until ctx ends.
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
