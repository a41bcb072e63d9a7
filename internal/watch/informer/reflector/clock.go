package reflector

import (
	"context"
	"time"

	"glasshouse/internal/watch/signal"

	"k8s.io/utils/clock"
)

// contextClock is the real clock, but waiting for it also ends when ctx ends. client-go's Reflector needs this,
// because it does not check its context while it waits to retry a streaming list.
type contextClock struct {
	clock.RealClock

	ctx context.Context //nolint:containedctx // clock.Clock has no context parameter.
}

func (c contextClock) After(duration time.Duration) <-chan time.Time {
	fired := make(chan time.Time)
	go func() {
		defer close(fired)
		signal.Sleep(c.ctx, duration)
	}()
	return fired
}
