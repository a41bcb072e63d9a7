// Package signal contains functions that let goroutines wait: for a change, or for some time.
package signal

import (
	"context"
	"sync"
	"time"
)

// Signal wakes all goroutines that wait for a change of data. It does not protect the data from concurrent access.
type Signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// New returns a Signal without waiting goroutines.
func New() *Signal { return &Signal{ch: make(chan struct{})} }

// Next returns a channel that the next Broadcast closes. Call Next before reading the data, so that no change is
// missed.
func (s *Signal) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// Broadcast wakes all waiting goroutines.
func (s *Signal) Broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// Sleep waits for the given time, or until ctx ends.
func Sleep(ctx context.Context, duration time.Duration) {
	// Without a wait, create no timer: Go 1.26 with the race detector crashes if two synctest timers expire together.
	if duration <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}

// Ticks returns an iterator that yields once after each interval, until ctx ends.
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
