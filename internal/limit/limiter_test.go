package limit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/limit"
)

func TestTryAcquireRespectsLimits(t *testing.T) {
	var l limit.Limiter
	all, a, b := limit.Limit{Key: "all", Max: 3}, limit.Limit{Key: "a", Max: 2}, limit.Limit{Key: "b", Max: 2}
	first, second := l.TryAcquire(1, a, all), l.TryAcquire(1, a, all)
	if first == nil || second == nil {
		t.Fatal("TryAcquire within the limits: got nil, want a lease")
	}
	if l.TryAcquire(1, a, all) != nil {
		t.Error("TryAcquire for a above its limit: got a lease, want nil")
	}
	if l.TryAcquire(1, b, all) == nil {
		t.Error("TryAcquire for b with one unit left: got nil, want a lease")
	}
	if l.TryAcquire(1, b, all) != nil {
		t.Error("TryAcquire above the limit of all: got a lease, want nil")
	}
	if used := l.Used("b"); used != 1 {
		t.Errorf("Used(b) after a refused request: got %d, want 1", used)
	}
	first.Release()
	first.Release()
	if used := l.Used("a"); used != 1 {
		t.Errorf("Used(a) after one release: got %d, want 1", used)
	}
	if l.TryAcquire(1, b, all) == nil {
		t.Error("TryAcquire for b after a release: got nil, want a lease")
	}
}

func TestAcquireWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limit.Limiter
		all := limit.Limit{Key: "all", Max: 10}
		blocking := l.TryAcquire(10, all)
		order := make(chan string, 10)
		var waiting sync.WaitGroup
		wait := func(name string, units int64) {
			waiting.Go(func() {
				lease, err := l.Acquire(t.Context(), units, limit.Limit{Key: name, Max: 10}, all)
				if err != nil {
					t.Error(err)
				}
				order <- name
				<-time.After(time.Second)
				lease.Release()
			})
			synctest.Wait()
		}
		wait("large", 10)
		wait("greedy", 4)
		wait("greedy", 4)
		wait("modest", 4)
		// Now 8 units are free. They are enough for one request of "greedy" and one of "modest", or for both of "greedy".
		// The limiter must serve both callers.
		blocking.Resize(2)
		synctest.Wait()
		first := []string{<-order, <-order}
		if slices.Sort(first); first[0] != "greedy" || first[1] != "modest" {
			t.Errorf("the first two leases are for %v, want greedy and modest", first)
		}
		blocking.Release()
		waiting.Wait()
		if used := l.Used("all"); used != 0 {
			t.Errorf("%d units are in use after all releases, want 0", used)
		}
	})
}

func TestAcquireIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limit.Limiter
		one := limit.Limit{Key: "one", Max: 1}
		blocking := l.TryAcquire(1, one)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if lease, err := l.Acquire(ctx, 1, one); lease != nil || err == nil {
			t.Errorf("Acquire with a canceled context: got %v, %v; want an error", lease, err)
		}
		blocking.Release()
		if l.TryAcquire(1, one) == nil {
			t.Error("TryAcquire after a canceled Acquire: got nil, want a lease")
		}
	})
}

func TestLargeAmountsAreClamped(t *testing.T) {
	var l limit.Limiter
	lease := l.TryAcquire(100, limit.Limit{Key: "a", Max: 4}, limit.Limit{Key: "all", Max: 10})
	if lease == nil || l.Used("all") != 4 {
		t.Errorf("Acquire of 100 units with a limit of 4: %d units are in use, want 4", l.Used("all"))
	}
	lease.Grow(3)
	if used := l.Used("a"); used != 7 {
		t.Errorf("Used(a) after Grow: got %d, want 7, without waiting", used)
	}
	if l.TryAcquire(4, limit.Limit{Key: "b", Max: 4}, limit.Limit{Key: "all", Max: 10}) != nil {
		t.Error("TryAcquire while the limit is exceeded: got a lease, want nil")
	}
}

// Once a large request has waited for 1 s, free units are kept for it. Only callers that use fewer units can take them.
func TestLargeRequestsDoNotStarve(t *testing.T) {
	for _, test := range []struct {
		name      string
		uses      int64 // The units that the caller of the large request already uses.
		ownLimit  int64
		oneCaller bool
		starves   bool
	}{
		{"caller that uses nothing", 0, 10, false, false},
		{"caller that uses many units", 2, 10, false, true},
		{"caller that waits for its own units", 2, 8, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l limit.Limiter
				all := limit.Limit{Key: "all", Max: 10}
				own := limit.Limit{Key: "large", Max: test.ownLimit}
				l.TryAcquire(test.uses, own, all)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				small := func(n int) {
					start := time.Now()
					if test.oneCaller {
						n = 0
					}
					lease, err := l.Acquire(ctx, 1, limit.Limit{Key: fmt.Sprint("small ", n), Max: 10}, all)
					if elapsed := time.Since(start); test.starves && elapsed > 0 {
						t.Errorf("small request waited for %v, want no delay", elapsed)
					}
					if err == nil {
						<-time.After(300 * time.Millisecond)
						lease.Release()
					}
				}
				var running sync.WaitGroup
				// Small requests always use at least 3 of the 10 units, so 8 are never free by chance.
				for n := range 4 {
					running.Go(func() {
						for ctx.Err() == nil {
							small(n)
						}
					})
					<-time.After(75 * time.Millisecond)
				}
				start := time.Now()
				_, err := l.Acquire(ctx, 8, own, all)
				if elapsed := time.Since(start); (err != nil) != test.starves ||
					err == nil && (elapsed < time.Second || elapsed > 2*time.Second) {
					t.Errorf("large request: got error %v after %v, want starvation: %t", err, elapsed, test.starves)
				}
				cancel()
				running.Wait()
			})
		})
	}
}

// An overdue request blocks another caller only while that caller uses at least as many units as the caller of the
// overdue request.
func TestGrowthMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limit.Limiter
		all := limit.Limit{Key: "all", Max: 10}
		large, small := limit.Limit{Key: "large", Max: 10}, limit.Limit{Key: "small", Max: 10}
		l.TryAcquire(4, limit.Limit{Key: "a", Max: 10}, all)
		growing := l.TryAcquire(1, large, all)
		l.TryAcquire(1, small, all)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _, _ = l.Acquire(ctx, 8, large, all) }()
		<-time.After(2 * time.Second)
		time.AfterFunc(time.Second, func() { growing.Grow(1) })
		start := time.Now()
		if _, err := l.Acquire(t.Context(), 1, small, all); err != nil {
			t.Error(err)
		}
		if elapsed := time.Since(start); elapsed != time.Second {
			t.Errorf("small request waited for %v, want 1 s, until the other caller's use increased", elapsed)
		}
	})
}

func TestCanceledAcquireMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limit.Limiter
		all := limit.Limit{Key: "all", Max: 10}
		l.TryAcquire(5, limit.Limit{Key: "a", Max: 10}, all)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		go func() { _, _ = l.Acquire(ctx, 8, limit.Limit{Key: "large", Max: 10}, all) }()
		<-time.After(2 * time.Second)
		start := time.Now()
		if _, err := l.Acquire(t.Context(), 1, limit.Limit{Key: "small", Max: 10}, all); err != nil {
			t.Error(err)
		}
		if elapsed := time.Since(start); elapsed != time.Second {
			t.Errorf("small request waited for %v, want 1 s, until the large request ended", elapsed)
		}
	})
}

func TestConcurrentUseStaysWithinLimits(t *testing.T) {
	var l limit.Limiter
	all := limit.Limit{Key: "all", Max: 20}
	var running sync.WaitGroup
	for n := range 50 {
		running.Go(func() {
			own := limit.Limit{Key: fmt.Sprint("caller ", n%5), Max: 7}
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(200))*time.Microsecond)
				lease, err := l.Acquire(ctx, 1+rand.Int64N(7), own, all)
				cancel()
				if used := l.Used(all.Key); used > all.Max {
					t.Errorf("%d units are in use, want at most %d", used, all.Max)
				}
				if err == nil {
					lease.Resize(1)
					lease.Release()
				}
			}
		})
	}
	running.Wait()
	if used := l.Used("all"); used != 0 {
		t.Errorf("%d units are in use after all releases, want 0", used)
	}
}

// stalledResponse is a Response whose client has read nothing since a given time. The time is zero while the response
// is still being built.
type stalledResponse struct {
	since   time.Time
	aborted chan struct{}
}

func (s *stalledResponse) Behind(int64) time.Duration {
	if s.since.IsZero() {
		return 0
	}
	return time.Since(s.since)
}

func (s *stalledResponse) Abort() { close(s.aborted) }

// When a caller waits for memory, a stalled response of the caller with the highest use is aborted.
func TestStalledResponsesMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.NewBudget(100)
		reserve := func(caller string, bytes int64, r *stalledResponse) *limit.Reservation {
			t.Helper()
			reserved, err := b.Reserve(t.Context(), limit.Caller{Key: caller}, bytes, r)
			if err != nil {
				t.Fatal(err)
			}
			return reserved
		}
		building := &stalledResponse{aborted: make(chan struct{})}
		stuck := &stalledResponse{since: time.Now(), aborted: make(chan struct{})}
		small := &stalledResponse{since: time.Now(), aborted: make(chan struct{})}
		reserve("building", 25, building)
		stuckReservation := reserve("stuck", 25, stuck)
		reserve("c", 25, &stalledResponse{aborted: make(chan struct{})})
		reserve("small", 10, small)
		start := time.Now()
		go func() {
			<-stuck.aborted
			stuckReservation.Release()
		}()
		reserve("new", 20, building)
		if elapsed := time.Since(start); elapsed < 400*time.Millisecond || elapsed > 700*time.Millisecond {
			t.Errorf("new caller waited for %v, want 0.5 s", elapsed)
		}
		select {
		case <-small.aborted:
			t.Error("the response of a caller that uses little memory was aborted")
		case <-building.aborted:
			t.Error("a response that is still being built was aborted")
		default:
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := b.Reserve(ctx, limit.Caller{Key: "new"}, 20, building); err == nil {
			t.Error("Reserve by a caller that uses more than the stalled one: got a reservation, want an error")
		}
	})
}

type slowResponse struct {
	rate    int64
	start   time.Time
	aborted chan struct{}
}

func (r *slowResponse) Behind(rate int64) time.Duration {
	elapsed := time.Since(r.start)
	return elapsed - elapsed*time.Duration(r.rate)/time.Duration(rate)
}

func (r *slowResponse) Abort() { close(r.aborted) }

// While a caller waits for memory, slow responses are aborted. The minimum speed rises to 1 MiB per second.
func TestSlowResponsesMakeRoom(t *testing.T) {
	for _, test := range []struct {
		rate       int64
		abortAfter time.Duration
	}{
		{16 << 10, 0 + 100*time.Millisecond}, {33 << 10, time.Second}, {400 << 10, 4 * time.Second}, {2 << 20, 0},
	} {
		t.Run(strconv.FormatInt(test.rate, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := limit.NewBudget(100)
				slow := &slowResponse{test.rate, time.Now(), make(chan struct{})}
				for n := range 3 {
					if _, err := b.Reserve(t.Context(), limit.Caller{Key: strconv.Itoa(n)}, 25, &stalledResponse{}); err != nil {
						t.Fatal(err)
					}
				}
				reservation, err := b.Reserve(t.Context(), limit.Caller{Key: "slow"}, 25, slow)
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					select {
					case <-slow.aborted:
						reservation.Release()
					case <-t.Context().Done():
					}
				}()
				<-time.After(10 * time.Second)
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				_, err = b.Reserve(ctx, limit.Caller{Key: "new"}, 20, &stalledResponse{})
				elapsed := time.Since(start)
				if (err != nil) != (test.abortAfter == 0) ||
					err == nil && (elapsed < test.abortAfter || elapsed > test.abortAfter+200*time.Millisecond) {
					t.Errorf("rate of %d bytes/s: got error %v after %v, want memory after %v",
						test.rate, err, elapsed, test.abortAfter)
				}
			})
		})
	}
}

// One caller can use a quarter of a Budget, and one group of callers half of it.
func TestBudgetIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.NewBudget(100)
		for _, test := range []struct {
			caller   limit.Caller
			bytes    int64
			wantRoom bool
		}{
			{limit.Caller{Key: "a", Group: "link"}, 25, true},
			{limit.Caller{Key: "a", Group: "link"}, 1, false},
			// The request for 1000 bytes is reduced to 25, a quarter of the Budget.
			{limit.Caller{Key: "b", Group: "link"}, 1000, true},
			{limit.Caller{Key: "c", Group: "link"}, 1, false},
			{limit.Caller{Key: "c"}, 25, true},
			{limit.Caller{Key: "d"}, 20, true},
			{limit.Caller{Key: "e"}, 6, false},
			{limit.Caller{Key: "e"}, 5, true},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := b.Reserve(ctx, test.caller, test.bytes, &stalledResponse{})
			cancel()
			if (err == nil) != test.wantRoom {
				t.Errorf("Reserve for %+v, %d bytes: got error %v, want success: %t", test.caller, test.bytes, err, test.wantRoom)
			}
		}
	})
}

func TestRatesAreByKey(t *testing.T) {
	rates := limit.NewRates(1, 2)
	if !rates.For("a").AllowN(time.Now(), 2) || rates.For("a").Allow() {
		t.Error("burst of key a: want exactly 2 events allowed")
	}
	if !rates.For("b").Allow() {
		t.Error("burst of key b: want it to be independent of key a")
	}
}
