package share_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/web/share"
)

// A second program waits for a limited time, and then returns an error that describes what to do.
//
// Invariant: I30.
func TestLockDirAllowsOneProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "data")
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		first, err := share.LockDir(t.Context(), dir, log)
		if err != nil || text.Len() > 0 {
			t.Fatalf("got %v, and in the log %q", err, &text)
		}
		began := time.Now()
		_, err = share.LockDir(t.Context(), dir, log)
		if err == nil || !strings.Contains(err.Error(), dir+": stop that dashboard") ||
			!strings.Contains(err.Error(), "--data-dir") || time.Since(began) != 30*time.Second {
			t.Errorf("after %s another got %v", time.Since(began), err)
		}
		if !strings.Contains(text.String(), "waiting") || !strings.Contains(text.String(), dir) {
			t.Errorf("while it waited the log was %q", &text)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if _, err = share.LockDir(ctx, dir, log); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) > 2*time.Second {
			t.Errorf("one that was to end meanwhile did so after %s, with %v", time.Since(began), err)
		}
		time.AfterFunc(10*time.Second, func() { _ = first.Close() })
		began = time.Now()
		next, err := share.LockDir(t.Context(), dir, log)
		if err != nil || time.Since(began) > 11*time.Second {
			t.Fatalf("10 s before the first ended the next began: it got %v after %s", err, time.Since(began))
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	})
}
