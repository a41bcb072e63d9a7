package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"glasshouse/internal/watch/journal"
)

// TestBenchAppend compares how long the writer of a journal is held up by a
// thousand readers with how long it is without any, at the rates of a busy and
// of a very busy cluster, and in a flood.
func TestBenchAppend(t *testing.T) {
	if os.Getenv("GLASSHOUSE_BENCH") == "" {
		t.Skip("takes a minute: make bench runs it")
	}
	var table rows
	for _, rate := range []int{100, 1000, 10_000, 0} {
		var ours, baseline []appends
		for range runs() {
			baseline = append(baseline, measureAppends(t, 0, rate))
			ours = append(ours, measureAppends(t, viewers, rate))
		}
		name := fmt.Sprintf("append, us at %d/s", rate)
		if rate == 0 {
			name = "append, us in a flood"
		}
		table.add(name+", p50", median(baseline, appends.p50), median(ours, appends.p50), "within 10 us")
		table.add(name+", mean", median(baseline, appends.mean), median(ours, appends.mean), "within 10 us")
		table.add(name+", p99", median(baseline, appends.p99), median(ours, appends.p99), "")
	}
	table.log(t)
}

// appends are how long writes took, in microseconds, shortest first.
type appends []float64

func (a appends) p50() float64 { return a[len(a)/2] }
func (a appends) p99() float64 { return a[len(a)*99/100] }
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
	if rate == 0 {
		n = 200_000
	}
	took := make(appends, 0, n)
	write := func(i int) {
		start := time.Now()
		j.Set(i%1000, i)
		took = append(took, float64(time.Since(start).Nanoseconds())/1000)
	}
	if rate == 0 {
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
