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

	"github.com/glasshouse-project/glasshouse/internal/web/share"
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
			t.Fatalf("first LockDir: got error %v, log %q", err, &text)
		}
		began := time.Now()
		_, err = share.LockDir(t.Context(), dir, log)
		if err == nil || !strings.Contains(err.Error(), dir+": stop that dashboard") ||
			!strings.Contains(err.Error(), "--data-dir") || time.Since(began) != 30*time.Second {
			t.Errorf("second LockDir after %s: got error %v", time.Since(began), err)
		}
		if !strings.Contains(text.String(), "waiting") || !strings.Contains(text.String(), dir) {
			t.Errorf("log while LockDir waits: got %q", &text)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if _, err = share.LockDir(ctx, dir, log); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) > 2*time.Second {
			t.Errorf("LockDir with a deadline: returned after %s with error %v", time.Since(began), err)
		}
		time.AfterFunc(10*time.Second, func() { _ = first.Close() })
		began = time.Now()
		next, err := share.LockDir(t.Context(), dir, log)
		if err != nil || time.Since(began) > 11*time.Second {
			t.Fatalf("LockDir while the first lock is released: got error %v after %s", err, time.Since(began))
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	})
}
