package watch

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Ticks yields every so often, until ctx ends.
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

// endingClock is the real one, but for waits that end with ctx: client-go's
// Reflector waits for the next try of a streaming list without looking whether
// it has been ended.
type endingClock struct {
	clock.RealClock

	ctx context.Context //nolint:containedctx // What waits has no other way to hear of it.
}

// After implements clock.Clock.
func (c endingClock) After(long time.Duration) <-chan time.Time {
	rung := make(chan time.Time)
	go func() {
		defer close(rung)
		sleep(c.ctx, long)
	}()
	return rung
}
