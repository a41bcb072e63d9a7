package apitest

import (
	"context"
	"testing"
)

// Run starts a function such as Cluster.Run in a goroutine. When the test ends, Run cancels the context of the
// function. The test fails if the function then returns an error.
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
