// Dashboard is a live window on a Kubernetes cluster, in a browser, that can
// look at everything and touch nothing.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	notice()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// notice has a connection to the API server that is half open noticed within 20 s,
// where the environment does not say otherwise: what is shown is called live until
// then. Of itself client-go takes 45 s (k8s.io/apimachinery/pkg/util/net), and it is
// told otherwise by the environment alone.
func notice() {
	for _, name := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, "10") // It is no name that could not be set.
		}
	}
}
