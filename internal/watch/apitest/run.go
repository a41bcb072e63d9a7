package apitest

import (
	"context"
	"testing"
)

// Run calls run in a goroutine, such as Cluster.Run. When the test ends, Run ends the context of run, and fails the
// test if run returns an error.
func Run(tb testing.TB, run func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("Run: %v", err)
		}
	})
}
