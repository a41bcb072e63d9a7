// Package flight caches the results of requests, and sends at most one request for each key at a time.
package flight

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Cache caches results by key. Concurrent callers with the same key share one request.
type Cache[K comparable, A any] struct {
	maxEntries int
	maxAge     time.Duration

	mu      sync.Mutex
	entries map[K]*call[A]
}

// New returns a Cache of at most maxEntries entries. Without this limit, clients could fill the memory by requesting
// many keys. If a full Cache needs room, it first drops results older than maxAge.
func New[K comparable, A any](maxEntries int, maxAge time.Duration) *Cache[K, A] {
	return &Cache[K, A]{maxEntries: maxEntries, maxAge: maxAge, entries: make(map[K]*call[A])}
}

// Len returns the number of cache entries, including those with a request in progress.
func (s *Cache[K, A]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

type call[A any] struct {
	done  chan struct{}
	value A
	// The value of the previous request, which Last returns while the request is in progress.
	previous A
	// When the request started. The field is set at the end of the request. It stays zero if the request is canceled.
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

// Get returns the cached result if isFresh accepts the result and the start time of its request. Otherwise, Get waits
// for the request in progress, or sends one. ok is false if ctx ends before there is a result.
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

// Last returns the newest result at once, whatever its age. It does not wait for a request in progress. Without a
// result, it returns the zero value.
func (s *Cache[K, A]) Last(key K) (value A) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[key].last()
}

func (a *call[A]) last() (value A) {
	switch {
	case a == nil:
		return value
	case a.pending() || a.startedAt.IsZero():
		return a.previous
	default:
		return a.value
	}
}

func (a *call[A]) run(ctx context.Context, request func(context.Context) A) {
	defer close(a.done)
	startedAt := time.Now()
	value := request(ctx)
	if ctx.Err() == nil {
		a.value, a.startedAt = value, startedAt
	}
}

// join returns a cache entry that is in progress or accepted by isFresh. If isLeader is true, the caller must send the
// request for this entry.
func (s *Cache[K, A]) join(key K, isFresh func(A, time.Time) bool) (a *call[A], isLeader bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a = s.entries[key]; a != nil && (a.pending() || !a.startedAt.IsZero() && isFresh(a.value, a.startedAt)) {
		return a, false
	}
	if len(s.entries) >= s.maxEntries {
		s.makeRoomLocked()
	}
	a = &call[A]{done: make(chan struct{}), previous: a.last()}
	s.entries[key] = a
	return a, true
}

// makeRoomLocked drops the oldest entries until the cache is three quarters full. It keeps entries with a request in
// progress.
func (s *Cache[K, A]) makeRoomLocked() {
	for _, maxAge := range []time.Duration{s.maxAge, s.maxAge / 8, 0} {
		maps.DeleteFunc(s.entries, func(_ K, a *call[A]) bool { return !a.pending() && time.Since(a.startedAt) >= maxAge })
		if len(s.entries) <= s.maxEntries*3/4 {
			return
		}
	}
}
