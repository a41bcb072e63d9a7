package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/cluster"
)

// withSignals returns a context that the first SIGINT or SIGTERM cancels, with a cluster.SignalError as the cause.
func withSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			// Stop catching signals, so that a second signal ends all processes immediately.
			signal.Stop(signals)
			cancel(cluster.SignalError{Signal: s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		<-done
	}
}
