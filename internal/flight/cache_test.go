package flight_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
)

func newerThan(maxAge time.Duration) func(error, time.Time) bool {
	return func(_ error, startedAt time.Time) bool { return time.Since(startedAt) < maxAge }
}

// A full cache first drops the entries that are too old for any caller.
func TestFullCacheDropsOldEntriesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flight.New[int, error](100, 45*time.Second)
		requests := 0
		request := func(from, to int) {
			for n := from; n < to; n++ {
				_, _ = s.Get(t.Context(), n, newerThan(45*time.Second), func(context.Context) error { requests++; return nil })
			}
		}
		request(0, 60)
		<-time.After(30 * time.Second)
		request(60, 99)
		<-time.After(20 * time.Second)
		request(99, 110)
		if requests = 0; s.Len() > 100 {
			t.Errorf("cache has %d entries, want at most 100", s.Len())
		}
		if request(60, 110); requests > 0 {
			t.Errorf("%d of the newest 50 entries were requested again, want 0", requests)
		}
		request(200, 2000)
		if s.Len() > 100 {
			t.Errorf("cache has %d entries, want at most 100", s.Len())
		}
	})
}

// Concurrent callers share one request. If the context of one caller ends, the others still get a valid result.
//
// Invariant: I18.
func TestCanceledCallerDoesNotAffectOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flight.New[int, error](10, time.Minute)
		request := func(ctx context.Context) error {
			select {
			case <-time.After(3 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		canceled, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		first := make(chan bool)
		go func() {
			_, ok := s.Get(canceled, 1, newerThan(time.Minute), request)
			first <- ok
		}()
		synctest.Wait()
		second := make(chan error)
		go func() {
			result, _ := s.Get(t.Context(), 1, newerThan(time.Minute), request)
			second <- result
		}()
		if <-first {
			t.Error("first caller got a result after its context was canceled, want an error")
		}
		if err := <-second; err != nil {
			t.Errorf("second caller: got error %v, want nil", err)
		}
	})
}

// Last returns the previous result while a request is in progress, and after that request was canceled.
func TestLastResultIsKeptDuringRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flight.New[string, int](10, time.Minute)
		get := func(ctx context.Context, value int) {
			never := func(int, time.Time) bool { return false }
			s.Get(ctx, "a", never, func(ctx context.Context) int {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
				return value
			})
		}
		want := func(when string, want int) {
			t.Helper()
			if got := s.Last("a"); got != want {
				t.Errorf("%s: got %d, want %d", when, got, want)
			}
		}
		want("before the first request", 0)
		get(t.Context(), 1)
		want("after the first request", 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		get(ctx, 2)
		want("after a canceled request", 1)
		go get(t.Context(), 3)
		synctest.Wait()
		want("during a request", 1)
		<-time.After(2 * time.Second)
		want("after the request", 3)
	})
}
