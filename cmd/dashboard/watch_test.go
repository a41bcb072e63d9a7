package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
)

// Without the flag --memory-limit, the memory limit of the container applies, but at least budget.MinMemory.
func TestMemoryLimitFollowsTheContainer(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off") // Otherwise, this test would limit its own process.
	for _, c := range []struct {
		name, flag string
		container  uint64
		want       int64
		warned     bool
	}{
		{name: "container", container: 512 << 20, want: 512 << 20},
		{name: "small container", container: 64 << 20, want: budget.MinMemory, warned: true},
		{name: "flag in a small container", flag: "128Mi", container: 64 << 20, want: 128 << 20},
		{name: "off", flag: "off", container: 64 << 20},
		{name: "container without a limit", container: 1 << 62},
		{name: "no container"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			s := &watchSettings{memory: c.flag}
			got, err := s.memoryLimit(slog.New(slog.NewTextHandler(&log, nil)), func() (uint64, error) {
				if c.container == 0 {
					return 0, errors.New("no cgroup")
				}
				return c.container, nil
			})
			if err != nil || got != c.want || strings.Contains(log.String(), "level=WARN") != c.warned {
				t.Errorf("memory limit: got %d, error %v, log %q; want %d, warning: %t", got, err, log.String(), c.want,
					c.warned)
			}
		})
	}
}
