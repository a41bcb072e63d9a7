package watch

import (
	"context"
	"time"

	"glasshouse/internal/watch/signal"

	"k8s.io/utils/clock"
)

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
		signal.Sleep(c.ctx, duration)
	}()
	return fired
}
