package faults

import (
	"context"
	"sync"
	"testing"
	"time"

	"glasshouse/test/faults/program"
)

// sample is the program's memory use at one time.
type sample struct {
	at    time.Time
	bytes int
	held  int // The part of bytes for objects and changes, as the program estimates it.
}

type samples []sample

// watchMemory takes a sample every second until the test ends. soFar returns the samples taken so far.
func watchMemory(t *testing.T, p *program.Program) (soFar func() samples) {
	t.Helper()
	var mu sync.Mutex
	var taken samples
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
			held, notTold := p.Held(ctx)
			if err == nil && notTold == nil {
				mu.Lock()
				taken = append(taken, sample{at: time.Now(), bytes: bytes, held: held})
				mu.Unlock()
			}
		}
	})
	return func() samples {
		mu.Lock()
		defer mu.Unlock()
		return append(samples(nil), taken...)
	}
}

// beside returns the samples without the memory for objects and changes. The history of changes grows up to its limit,
// which is not a leak.
func (s samples) beside() samples {
	beside := make(samples, len(s))
	for i, taken := range s {
		beside[i] = sample{at: taken.at, bytes: taken.bytes - taken.held}
	}
	return beside
}

// slope returns the growth of the memory in MB per hour. It fits a line by least squares to the samples after the given
// time.
func (s samples) slope(after time.Time) float64 {
	var n, sumX, sumY, sumXX, sumXY float64
	for _, taken := range s {
		if taken.at.Before(after) {
			continue
		}
		x, y := taken.at.Sub(after).Hours(), float64(taken.bytes)/(1<<20)
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	if d := n*sumXX - sumX*sumX; d > 0 {
		return (n*sumXY - sumX*sumY) / d
	}
	return 0
}

func TestSlope(t *testing.T) {
	start := time.Now()
	s := samples{{at: start, bytes: 500 << 20}}
	for minute := 1; minute <= 60; minute++ {
		s = append(s, sample{
			at: start.Add(time.Duration(minute) * time.Minute), bytes: (100 + minute) << 20, held: minute << 19,
		})
	}
	if got := s.slope(start.Add(time.Second)); got < 59.9 || got > 60.1 {
		t.Errorf("a megabyte a minute is %.1f MB/h", got)
	}
	if got := s.beside().slope(start.Add(time.Second)); got < 29.9 || got > 30.1 {
		t.Errorf("half a megabyte a minute beside what is held is %.1f MB/h", got)
	}
}
