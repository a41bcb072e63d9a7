// Package flight caches the results of requests, with a single request in flight for each key.
package flight

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Cache caches results of type A by key. Concurrent callers with the same key share one request. Later callers get
// its cached result while it is fresh for them (see Get). All methods are safe for concurrent use.
type Cache[K comparable, A any] struct {
	maxEntries int
	maxAge     time.Duration

	mu      sync.Mutex
	entries map[K]*call[A]
}

// New returns a cache of at most maxEntries results. The number is limited because clients can invent any number of
// keys. maxAge is the greatest age of a result that callers of Get accept. A full cache drops older results first.
func New[K comparable, A any](maxEntries int, maxAge time.Duration) *Cache[K, A] {
	return &Cache[K, A]{maxEntries: maxEntries, maxAge: maxAge, entries: make(map[K]*call[A])}
}

// Len returns the number of entries, including those whose request is in flight.
func (s *Cache[K, A]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

// call is a cache entry. Its request is in flight, or has ended.
type call[A any] struct {
	done  chan struct{} // Closed when the request has ended.
	value A
	// startedAt is the time at which the request started. It is zero if the caller of the request was canceled, and
	// value is then not valid.
	startedAt time.Time
}

func (a *call[A]) pending() bool {
	select {
	case <-a.done:
		return false
	default:
		return true
	}
}

// Get returns the result for key. It uses a cached result for which isFresh returns true. If there is none, Get waits
// for the request for key that is in flight, or calls request. isFresh receives a cached result and the time at which
// its request started. ok is false if ctx ends first.
func (s *Cache[K, A]) Get(
	ctx context.Context, key K, isFresh func(A, time.Time) bool, request func(context.Context) A,
) (value A, ok bool) {
	for ctx.Err() == nil {
		a, isLeader := s.join(key, isFresh)
		if isLeader {
			a.run(ctx, request)
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return value, false
		}
		if !a.startedAt.IsZero() {
			return a.value, true
		}
	}
	return value, false
}

func (a *call[A]) run(ctx context.Context, request func(context.Context) A) {
	defer close(a.done)
	startedAt := time.Now()
	value := request(ctx)
	if ctx.Err() == nil {
		a.value, a.startedAt = value, startedAt
	}
}

// join returns the cache entry of key. isLeader is true if the entry is new. The caller must then send the request
// for the entry.
func (s *Cache[K, A]) join(key K, isFresh func(A, time.Time) bool) (a *call[A], isLeader bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a = s.entries[key]; a != nil && (a.pending() || !a.startedAt.IsZero() && isFresh(a.value, a.startedAt)) {
		return a, false
	}
	if len(s.entries) >= s.maxEntries {
		s.makeRoomLocked()
	}
	a = &call[A]{done: make(chan struct{})}
	s.entries[key] = a
	return a, true
}

// makeRoomLocked drops entries until the cache is at most three quarters full. It first drops the entries that are
// too old for any caller, then the oldest of the other entries. It never drops an entry whose request is in flight.
func (s *Cache[K, A]) makeRoomLocked() {
	for _, maxAge := range []time.Duration{s.maxAge, s.maxAge / 8, 0} {
		maps.DeleteFunc(s.entries, func(_ K, a *call[A]) bool { return !a.pending() && time.Since(a.startedAt) >= maxAge })
		if len(s.entries) <= s.maxEntries*3/4 {
			return
		}
	}
}
