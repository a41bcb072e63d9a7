package watch

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Ticks returns an iterator that yields at each interval until ctx ends.
func Ticks(ctx context.Context, every time.Duration) func(yield func() bool) {
	return func(yield func() bool) {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if !yield() {
				return
			}
		}
	}
}

// contextClock is the real clock, except that its waits end with ctx. client-go's Reflector waits before it retries a
// streaming list, without a check whether its context has ended.
type contextClock struct {
	clock.RealClock

	ctx context.Context //nolint:containedctx // The interface has no other parameter for it.
}

// After implements clock.Clock. Its channel is closed after the given duration, or when ctx ends.
func (c contextClock) After(duration time.Duration) <-chan time.Time {
	fired := make(chan time.Time)
	go func() {
		defer close(fired)
		sleep(c.ctx, duration)
	}()
	return fired
}
