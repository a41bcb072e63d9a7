package watch

import (
	"context"
	"maps"
	"sync"
	"time"
)

// answers is a cache with single flight: concurrent callers with the same question share one request, and its result is
// reused for a while.
type answers[K comparable, A any] struct {
	most int           // Maximum number of entries, because clients can invent any number of questions.
	long time.Duration // Older entries are used for no caller. Callers may require newer ones.

	mu sync.Mutex
	of map[K]*answer[A]
}

// answer is a cache entry. Its request is in flight or has ended.
type answer[A any] struct {
	come  chan struct{} // Closed when the request has ended.
	given A
	asked time.Time // When the request started; zero if its caller was canceled, and given is not valid.
}

func (a *answer[A]) pending() bool {
	select {
	case <-a.come:
		return false
	default:
		return true
	}
}

// get returns the answer to question. It uses a cached answer for which good returns true, waits for a request in
// flight, or calls ask. good receives a cached answer and the time at which its request started. ok is false if ctx
// ends first.
func (s *answers[K, A]) get(
	ctx context.Context, question K, good func(A, time.Time) bool, ask func(context.Context) A,
) (given A, ok bool) {
	for ctx.Err() == nil {
		a, mine := s.join(question, good)
		if mine {
			a.ask(ctx, ask)
		}
		select {
		case <-a.come:
		case <-ctx.Done():
			return given, false
		}
		if !a.asked.IsZero() {
			return a.given, true
		}
	}
	return given, false
}

func (a *answer[A]) ask(ctx context.Context, ask func(context.Context) A) {
	defer close(a.come)
	began := time.Now()
	given := ask(ctx)
	if ctx.Err() == nil {
		a.given, a.asked = given, began
	}
}

// join returns the cache entry of question. mine is true if the entry is new, and the caller must send the request for
// it.
func (s *answers[K, A]) join(question K, good func(A, time.Time) bool) (a *answer[A], mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a = s.of[question]; a != nil && (a.pending() || !a.asked.IsZero() && good(a.given, a.asked)) {
		return a, false
	}
	if len(s.of) >= s.most {
		s.roomLocked()
	}
	if s.of == nil {
		s.of = make(map[K]*answer[A])
	}
	a = &answer[A]{come: make(chan struct{})}
	s.of[question] = a
	return a, true
}

// roomLocked drops at least a quarter of the entries: first those that are too old for any caller, then the oldest of
// the others. It does not drop entries whose request is in flight.
func (s *answers[K, A]) roomLocked() {
	for _, long := range []time.Duration{s.long, s.long / 8, 0} {
		maps.DeleteFunc(s.of, func(_ K, a *answer[A]) bool { return !a.pending() && time.Since(a.asked) >= long })
		if len(s.of) <= s.most*3/4 {
			return
		}
	}
}
