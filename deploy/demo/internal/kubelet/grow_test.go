package kubelet_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/kubelet"
)

func TestGrowingLogStaysWithinLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "current.log")
	if err := os.WriteFile(path, kubelet.Logs(), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Hour+time.Second/2)
		defer cancel()
		if err := kubelet.Grow(ctx, path); err != nil {
			t.Error(err)
		}
	})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(text, []byte("\n"))
	logLines := regexp.MustCompile(`(?m)^\S+Z stdout F .*level=.*$`).FindAll(text, -1)
	if len(logLines) != lines || lines < 100 || len(text) > 1<<20+200 {
		t.Errorf("after 8 hours: file has %d bytes and %d lines, of which %d are log lines",
			len(text), lines, len(logLines))
	}
}
