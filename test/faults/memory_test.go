package faults

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/program"
)

type sample struct {
	at     time.Time
	bytes  int
	cached int // The program's own estimate of the bytes for objects and changes.
}

type samples []sample

func watchMemory(t *testing.T, p *program.Program) (soFar func() samples) {
	t.Helper()
	var mu sync.Mutex
	var collected samples
	run(t, func(ctx context.Context) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			bytes, err := p.RSS(ctx)
			cached, cachedErr := p.CachedBytes(ctx)
			if err == nil && cachedErr == nil {
				mu.Lock()
				collected = append(collected, sample{at: time.Now(), bytes: bytes, cached: cached})
				mu.Unlock()
			}
		}
	})
	return func() samples {
		mu.Lock()
		defer mu.Unlock()
		return append(samples(nil), collected...)
	}
}

// withoutCached subtracts the memory for cached objects and for the history of changes, because the history's growth up
// to its limit is not a leak.
func (s samples) withoutCached() samples {
	remaining := make(samples, len(s))
	for i, point := range s {
		remaining[i] = sample{at: point.at, bytes: point.bytes - point.cached}
	}
	return remaining
}

// slope returns the growth in MB per hour, by least squares. It ignores samples before the given time.
func (s samples) slope(after time.Time) float64 {
	var n, sumX, sumY, sumXX, sumXY float64
	for _, point := range s {
		if point.at.Before(after) {
			continue
		}
		x, y := point.at.Sub(after).Hours(), float64(point.bytes)/(1<<20)
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	if d := n*sumXX - sumX*sumX; d > 0 {
		return (n*sumXY - sumX*sumY) / d
	}
	return 0
}

func TestSlopeIsMeasuredPerHour(t *testing.T) {
	start := time.Now()
	s := samples{{at: start, bytes: 500 << 20}}
	for minute := 1; minute <= 60; minute++ {
		s = append(s, sample{
			at: start.Add(time.Duration(minute) * time.Minute), bytes: (100 + minute) << 20, cached: minute << 19,
		})
	}
	if got := s.slope(start.Add(time.Second)); got < 59.9 || got > 60.1 {
		t.Errorf("slope of 1 MB a minute: got %.1f MB/h, want 60", got)
	}
	if got := s.withoutCached().slope(start.Add(time.Second)); got < 29.9 || got > 30.1 {
		t.Errorf("slope of 0.5 MB a minute in addition to cached objects: got %.1f MB/h, want 30", got)
	}
}
