package proc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"glasshouse/deploy/demo/internal/proc"
)

func shell(t *testing.T, script string) proc.Spec {
	t.Helper()
	return proc.Spec{Name: "sh", Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "log")}
}

func TestRunTellsWhyItEnded(t *testing.T) {
	err := proc.Run(t.Context(), shell(t, "echo cannot bind; exit 3"), time.Second)
	ended, ok := errors.AsType[*proc.EndedError](err)
	if !ok || !strings.Contains(ended.Tail, "cannot bind") || !strings.Contains(ended.State, "3") {
		t.Errorf("got %v", err)
	}
}

func TestRunStopsWithContext(t *testing.T) {
	for name, trap := range map[string]string{
		"one that listens": "trap 'exit 0' TERM", "one that does not": "trap '' TERM",
	} {
		t.Run(name, func(t *testing.T) {
			ready := filepath.Join(t.TempDir(), "ready")
			if err := syscall.Mkfifo(ready, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				_, _ = os.ReadFile(ready) // blocks until the script is running
				cancel()
			}()
			script := trap + "; echo > " + ready + "; while :; do sleep 0.01; done"
			if err := proc.Run(ctx, shell(t, script), 100*time.Millisecond); err != nil {
				t.Errorf("got %v, want none", err)
			}
		})
	}
}

func TestFleetFallsTogether(t *testing.T) {
	fleet, running := proc.NewFleet(t.Context(), time.Second)
	fleet.Start(running, shell(t, "exec sleep 60"))
	fleet.Start(running, shell(t, "exit 1"))
	<-running.Done()
	if _, ok := errors.AsType[*proc.EndedError](context.Cause(running)); !ok {
		t.Errorf("cause: got %v", context.Cause(running))
	}
	fleet.Stop() // the other process sleeps for a minute, so the test would time out if Stop did not end it
}
