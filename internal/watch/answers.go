package watch

import (
	"context"
	"maps"
	"sync"
	"time"
)

// answers are what was answered a moment ago, and is about to be: all who ask the
// same at a time ask once.
type answers[K comparable, A any] struct {
	most int           // That are kept, as anybody can think of any number of questions.
	long time.Duration // No older one is good for anybody.

	mu sync.Mutex
	of map[K]*answer[A]
}

// answer is one that is on its way, or has come.
type answer[A any] struct {
	come  chan struct{} // Closed when it has.
	given A
	asked time.Time // The zero Time where who asked did not wait for it to the end.
}

func (a *answer[A]) pending() bool {
	select {
	case <-a.come:
		return false
	default:
		return true
	}
}

// get returns what ask returns, or has returned to somebody else, if that is good
// still. ok is false where ctx ends before.
func (s *answers[K, A]) get(ctx context.Context, question K, good func(A, time.Time) bool, ask func(context.Context) A) (given A, ok bool) {
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

// join returns the answer to a question, and whether it is the caller's to get.
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

// roomLocked drops a quarter of the answers at least: those that are good for nobody,
// then the older ones. What is on its way stays.
func (s *answers[K, A]) roomLocked() {
	for _, long := range []time.Duration{s.long, s.long / 8, 0} {
		maps.DeleteFunc(s.of, func(_ K, a *answer[A]) bool { return !a.pending() && time.Since(a.asked) >= long })
		if len(s.of) <= s.most*3/4 {
			return
		}
	}
}
