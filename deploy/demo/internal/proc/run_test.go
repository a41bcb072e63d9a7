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

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/proc"
)

func shellSpec(t *testing.T, script string) proc.Spec {
	t.Helper()
	return proc.Spec{Name: "sh", Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "log")}
}

func TestRunReturnsEndedError(t *testing.T) {
	err := proc.Run(t.Context(), shellSpec(t, "echo cannot bind; exit 3"), time.Second)
	ended, ok := errors.AsType[*proc.EndedError](err)
	if !ok || !strings.Contains(ended.Tail, "cannot bind") || !strings.Contains(ended.State, "3") {
		t.Errorf("got error %v", err)
	}
}

func TestRunStopsWithContext(t *testing.T) {
	for name, trap := range map[string]string{
		"handles SIGTERM": "trap 'exit 0' TERM", "ignores SIGTERM": "trap '' TERM",
	} {
		t.Run(name, func(t *testing.T) {
			ready := filepath.Join(t.TempDir(), "ready")
			if err := syscall.Mkfifo(ready, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				_, _ = os.ReadFile(ready) // blocks until the script writes to the named pipe
				cancel()
			}()
			script := trap + "; echo > " + ready + "; while :; do sleep 0.01; done"
			if err := proc.Run(ctx, shellSpec(t, script), 100*time.Millisecond); err != nil {
				t.Errorf("got error %v, want nil", err)
			}
		})
	}
}

func TestGroupFailsWhenAProcessEnds(t *testing.T) {
	group, groupCtx := proc.NewGroup(t.Context(), time.Second)
	group.Start(groupCtx, shellSpec(t, "exec sleep 60"))
	group.Start(groupCtx, shellSpec(t, "exit 1"))
	<-groupCtx.Done()
	if _, ok := errors.AsType[*proc.EndedError](context.Cause(groupCtx)); !ok {
		t.Errorf("cause of the context: got %v", context.Cause(groupCtx))
	}
	group.Stop()
}
