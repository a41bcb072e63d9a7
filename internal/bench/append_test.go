//go:build integration

package bench_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"glasshouse/internal/watch/journal"
)

// benchAppend measures how long a write to a journal takes with a thousand readers, and without readers. The rates are
// those of a busy and of a very busy cluster, and a flood.
func benchAppend(t *testing.T, _ subject, to *table) {
	t.Helper()
	for _, rate := range []int{100, 1000, 10_000, flood} {
		results := many(t, func(t *testing.T) appends { t.Helper(); return measureAppends(t, 0, rate) },
			func(t *testing.T) appends { t.Helper(); return measureAppends(t, viewers, rate) },
			func(t *testing.T) appends { t.Helper(); return measureAppends(t, 1, rate) })
		none, ours, one := results[0], results[1], results[2]
		name := fmt.Sprintf("journal append with %d readers at %d/s, us, ", viewers, rate)
		if rate == flood {
			name = fmt.Sprintf("journal append with %d readers in a flood, us, ", viewers)
		}
		within := bar{"within 10 us", difference, atMost(10)}
		to.add(row{name + "p50", "no reader", of(none, appends.p50), of(ours, appends.p50), within})
		to.add(row{name + "mean", "no reader", of(none, appends.mean), of(ours, appends.mean), within})
		to.add(row{
			"(p50 beside a single reader, whose waking costs as much)", "one reader", of(one, appends.p50),
			of(ours, appends.p50), told(difference),
		})
	}
}

// flood is the rate of writes without a pause.
const flood = 0

// appends contains the durations of writes in microseconds, in ascending order.
type appends []float64

func (a appends) p50() float64 { return a[len(a)/2] }
func (a appends) mean() (sum float64) {
	for _, v := range a {
		sum += v
	}
	return sum / float64(len(a))
}

func measureAppends(t *testing.T, readers, rate int) appends {
	t.Helper()
	j := journal.New[int, int, struct{}](journal.Options[int, int]{
		Same: func(a, b int) bool { return a == b }, Continues: func(int, int) bool { return true },
		Size: func(int) int { return 100 }, MaxBytes: 64 << 20, MaxAge: time.Minute,
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for range readers {
		running.Go(func() {
			for cursor := j.Now(); ; {
				_, next, err := j.Next(ctx, cursor, 1000)
				if errors.Is(err, journal.ErrGone) {
					next = j.Now()
				} else if err != nil {
					return
				}
				cursor = next
			}
		})
	}
	n := 2 * rate
	if rate == flood {
		n = 200_000
	}
	took := make(appends, 0, n)
	write := func(i int) {
		start := time.Now()
		j.Set(i%1000, i)
		took = append(took, float64(time.Since(start).Nanoseconds())/1000)
	}
	if rate == flood {
		for i := range n {
			write(i)
		}
	} else {
		pace(n, rate, write)
	}
	cancel()
	running.Wait()
	slices.Sort(took)
	return took
}
