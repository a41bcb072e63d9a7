// Dashboard serves a live, read-only view of a Kubernetes cluster to browsers.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	setHTTP2Timeouts()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// setHTTP2Timeouts makes client-go detect a broken connection within 10 s instead of 45 s
// (k8s.io/apimachinery/pkg/util/net).
func setHTTP2Timeouts() {
	for _, name := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, "5")
		}
	}
}
