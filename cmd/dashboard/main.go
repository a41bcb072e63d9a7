// Dashboard is a live, read-only window on a Kubernetes cluster, in a browser.
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

// setHTTP2Timeouts makes client-go detect a half-open connection to the API server within 20 s, if the environment does
// not set other timeouts. Until a broken connection is detected, the page shows old data as live. By default, client-go
// takes 45 s (k8s.io/apimachinery/pkg/util/net), and only the environment can change this.
func setHTTP2Timeouts() {
	for _, name := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, "10") // Setenv fails only for an invalid name.
		}
	}
}
