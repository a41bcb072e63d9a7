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
func (c *Cache[K, A]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

type call[A any] struct {
	done  chan struct{}
	value A
	// The value of the previous request, which Last returns while the request is in progress.
	previous A
	// When the request started. The field is set at the end of the request. It stays zero if the request is canceled.
	startedAt time.Time
}

func (c *call[A]) pending() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// Get returns the cached result if isFresh accepts the result and the start time of its request. Otherwise, Get waits
// for the request in progress, or sends one. ok is false if ctx ends before there is a result.
func (c *Cache[K, A]) Get(
	ctx context.Context, key K, isFresh func(A, time.Time) bool, request func(context.Context) A,
) (value A, ok bool) {
	for ctx.Err() == nil {
		a, isLeader := c.join(key, isFresh)
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
func (c *Cache[K, A]) Last(key K) (value A) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key].last()
}

func (c *call[A]) last() (value A) {
	switch {
	case c == nil:
		return value
	case c.pending() || c.startedAt.IsZero():
		return c.previous
	default:
		return c.value
	}
}

func (c *call[A]) run(ctx context.Context, request func(context.Context) A) {
	defer close(c.done)
	startedAt := time.Now()
	value := request(ctx)
	if ctx.Err() == nil {
		c.value, c.startedAt = value, startedAt
	}
}

// join returns a cache entry that is in progress or accepted by isFresh. If isLeader is true, the caller must send the
// request for this entry.
func (c *Cache[K, A]) join(key K, isFresh func(A, time.Time) bool) (a *call[A], isLeader bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a = c.entries[key]; a != nil && (a.pending() || !a.startedAt.IsZero() && isFresh(a.value, a.startedAt)) {
		return a, false
	}
	if len(c.entries) >= c.maxEntries {
		c.makeRoomLocked()
	}
	a = &call[A]{done: make(chan struct{}), previous: a.last()}
	c.entries[key] = a
	return a, true
}

// makeRoomLocked drops the oldest entries until the cache is three quarters full. It keeps entries with a request in
// progress.
func (c *Cache[K, A]) makeRoomLocked() {
	for _, maxAge := range []time.Duration{c.maxAge, c.maxAge / 8, 0} {
		maps.DeleteFunc(c.entries, func(_ K, a *call[A]) bool { return !a.pending() && time.Since(a.startedAt) >= maxAge })
		if len(c.entries) <= c.maxEntries*3/4 {
			return
		}
	}
}
