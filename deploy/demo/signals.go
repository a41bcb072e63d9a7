package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"glasshouse/deploy/demo/internal/cluster"
)

// withSignals gives a context that ends with a cluster.SignalError on the first SIGINT or SIGTERM. The second ends
// this process at once, and with it all that it started.
func withSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
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
