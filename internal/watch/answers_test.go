package watch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
)

// When the cache of answers is full, the entries that are too old for any caller are dropped first.
func TestNewAnswersAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch.NewAnswers(100, 45*time.Second)
		asked := 0
		ask := func(from, to int) {
			for n := from; n < to; n++ {
				_, _ = s.Get(t.Context(), n, 45*time.Second, func(context.Context) error { asked++; return nil })
			}
		}
		ask(0, 60)
		pass(30 * time.Second)
		ask(60, 99)
		pass(20 * time.Second)
		ask(99, 110)
		if asked = 0; s.Len() > 100 {
			t.Errorf("%d answers are kept, want at most 100", s.Len())
		}
		if ask(60, 110); asked > 0 {
			t.Errorf("%d of the newer 50 were asked for again", asked)
		}
		ask(200, 2000)
		if s.Len() > 100 {
			t.Errorf("%d answers are kept, want at most 100", s.Len())
		}
	})
}

// Callers share one request. A caller whose context ends early does not affect the result of the other callers.
func TestSoonerDeadlineIsNobodyElses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch.NewAnswers(10, time.Minute)
		ask := func(ctx context.Context) error {
			select {
			case <-time.After(3 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		first := make(chan bool)
		go func() {
			_, ok := s.Get(short, 1, time.Minute, ask)
			first <- ok
		}()
		synctest.Wait()
		second := make(chan error)
		go func() {
			answer, _ := s.Get(t.Context(), 1, time.Minute, ask)
			second <- answer
		}()
		if <-first {
			t.Error("the first has an answer after its end")
		}
		if err := <-second; err != nil {
			t.Errorf("the second is told %v", err)
		}
	})
}
