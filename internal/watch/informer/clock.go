package informer

import (
	"context"
	"time"

	"glasshouse/internal/watch/signal"

	"k8s.io/utils/clock"
)

// contextClock is the real clock, but its waits also end when ctx ends. client-go's Reflector needs this: before it
// retries a streaming list, it waits without a check of its context.
type contextClock struct {
	clock.RealClock

	ctx context.Context //nolint:containedctx // clock.Clock has no context parameter.
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
