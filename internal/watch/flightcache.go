package watch

import (
	"context"
	"maps"
	"sync"
	"time"
)

// flightCache is a cache with single flight: concurrent callers with the same question share one request, and its result is
// reused for a while.
type flightCache[K comparable, A any] struct {
	maxEntries int           // Maximum number of entries, because clients can invent any number of questions.
	maxAge     time.Duration // Older entries are used for no caller. Callers may require newer ones.

	mu      sync.Mutex
	flights map[K]*flight[A]
}

// flight is a cache entry. Its request is in flight or has ended.
type flight[A any] struct {
	done      chan struct{} // Closed when the request has ended.
	value     A
	startedAt time.Time // When the request started; zero if its caller was canceled, and value is not valid.
}

func (a *flight[A]) pending() bool {
	select {
	case <-a.done:
		return false
	default:
		return true
	}
}

// get returns the answer for key. It uses a cached answer for which isFresh returns true, waits for a request in
// flight, or calls request. isFresh receives a cached answer and the time at which its request started. ok is false if ctx
// ends first.
func (s *flightCache[K, A]) get(
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

func (a *flight[A]) run(ctx context.Context, request func(context.Context) A) {
	defer close(a.done)
	startedAt := time.Now()
	value := request(ctx)
	if ctx.Err() == nil {
		a.value, a.startedAt = value, startedAt
	}
}

// join returns the cache entry of key. isLeader is true if the entry is new, and the caller must send the request for
// it.
func (s *flightCache[K, A]) join(key K, isFresh func(A, time.Time) bool) (a *flight[A], isLeader bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a = s.flights[key]; a != nil && (a.pending() || !a.startedAt.IsZero() && isFresh(a.value, a.startedAt)) {
		return a, false
	}
	if len(s.flights) >= s.maxEntries {
		s.makeRoomLocked()
	}
	if s.flights == nil {
		s.flights = make(map[K]*flight[A])
	}
	a = &flight[A]{done: make(chan struct{})}
	s.flights[key] = a
	return a, true
}

// makeRoomLocked drops at least a quarter of the entries: first those that are too old for any caller, then the oldest of
// the others. It does not drop entries whose request is in flight.
func (s *flightCache[K, A]) makeRoomLocked() {
	for _, maxAge := range []time.Duration{s.maxAge, s.maxAge / 8, 0} {
		maps.DeleteFunc(s.flights, func(_ K, a *flight[A]) bool { return !a.pending() && time.Since(a.startedAt) >= maxAge })
		if len(s.flights) <= s.maxEntries*3/4 {
			return
		}
	}
}
