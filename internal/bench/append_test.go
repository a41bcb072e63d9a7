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

	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// benchAppend measures one write to a journal (a bounded history of changes) with 1000, one or no waiting readers.
func benchAppend(t *testing.T, _ subject, report *table) {
	t.Helper()
	// Writes per second. A busy cluster has about 100.
	for _, rate := range []int{100, 1000, 10_000, unpaced} {
		results := measureAlternately(t, func(t *testing.T) appends { t.Helper(); return measureAppends(t, 0, rate) },
			func(t *testing.T) appends { t.Helper(); return measureAppends(t, viewers, rate) },
			func(t *testing.T) appends { t.Helper(); return measureAppends(t, 1, rate) })
		idle, ours, single := results[0], results[1], results[2]
		name := fmt.Sprintf("journal append with %d readers at %d/s, us, ", viewers, rate)
		if rate == unpaced {
			name = fmt.Sprintf("journal append with %d readers in a flood, us, ", viewers)
		}
		limit := bar{"within 10 us", difference, atMost(10)}
		report.add(row{name + "p50", "no reader", figuresOf(idle, appends.p50), figuresOf(ours, appends.p50), limit})
		report.add(row{name + "mean", "no reader", figuresOf(idle, appends.mean), figuresOf(ours, appends.mean), limit})
		report.add(row{
			"(p50; baseline with one reader, which also has to be woken up)", "one reader", figuresOf(single, appends.p50),
			figuresOf(ours, appends.p50), comparisonOnly(difference),
		})
	}
}

const unpaced = 0

// appends contains the durations of writes to a journal, in microseconds, in ascending order.
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
	if rate == unpaced {
		n = 200_000
	}
	durations := make(appends, 0, n)
	write := func(i int) {
		start := time.Now()
		j.Set(i%1000, i, struct{}{}, 0)
		durations = append(durations, float64(time.Since(start).Nanoseconds())/1000)
	}
	if rate == unpaced {
		for i := range n {
			write(i)
		}
	} else {
		callAtRate(n, rate, write)
	}
	cancel()
	running.Wait()
	slices.Sort(durations)
	return durations
}
