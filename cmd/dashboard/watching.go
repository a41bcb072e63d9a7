package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"glasshouse/internal/watch"
)

// watchSettings are the flags that determine what is watched, how long, and in how much memory.
type watchSettings struct {
	always    []string
	linger    time.Duration
	memory    string
	ringBytes string
	ringAge   time.Duration
}

func (s *watchSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&s.always, "watch", nil,
		"Kinds to watch whether somebody looks or not, as in core/v1/pods,apps/v1/deployments.")
	flags.DurationVar(&s.linger, "linger", 5*time.Minute,
		"How long a kind stays watched after the last who looked at it.")
	flags.StringVar(&s.memory, "memory-limit", "",
		"What the program may take, as in 512Mi; off is no limit. The default is the limit of the container, where "+
			"there is one.")
	flags.StringVar(&s.ringBytes, "ring-bytes", "64Mi",
		"How much of the past of each kind is kept, from which readers go on that were away.")
	flags.DurationVar(&s.ringAge, "ring-age", 5*time.Minute, "How long the past of each kind is kept.")
}

// options validates the settings, and sets the memory limit of the garbage collector. container returns the memory
// limit of the container in bytes.
func (s *watchSettings) options(log *slog.Logger, container func() (uint64, error)) (watch.Options, error) {
	options := watch.Options{Always: s.always, Linger: s.linger, Ring: watch.Ring{Age: s.ringAge}}
	for _, ref := range s.always {
		if strings.Count(ref, "/") != 2 {
			return options, &usageError{
				fmt.Errorf("--watch %q does not name a kind: write group/version/resource, as in core/v1/pods or "+
					"apps/v1/deployments", ref),
			}
		}
	}
	if s.linger <= 0 || s.ringAge <= 0 {
		return options, &usageError{
			fmt.Errorf("--linger is %s and --ring-age %s; both take a time such as 30s or 5m", s.linger, s.ringAge),
		}
	}
	ring, err := resource.ParseQuantity(s.ringBytes)
	if err != nil || ring.Value() < 1<<20 || ring.Value() > 1<<40 {
		return options, &usageError{
			fmt.Errorf("--ring-bytes is %q; it takes a size from 1Mi, such as 64Mi", s.ringBytes),
		}
	}
	options.Ring.Bytes = int(ring.Value())
	options.MemoryLimit, err = s.memoryLimit(log, container)
	return options, err
}

// heapTenths is the share of the memory limit that the Go runtime may use, in tenths. The process uses more than that:
// the pages of the binary, and what the kernel counts for sockets. In total it should stay below nine tenths of the
// limit.
const heapTenths = 8

// memoryLimit returns the memory limit of the program in bytes; 0 means no limit.
func (s *watchSettings) memoryLimit(log *slog.Logger, container func() (uint64, error)) (int64, error) {
	var limit int64
	switch s.memory {
	case "off":
		return 0, nil
	case "":
		found, err := container()
		if err != nil || found > 1<<40 {
			return 0, nil //nolint:nilerr // Not in a container, or in one without a limit.
		}
		limit = int64(found)
	default:
		quantity, err := resource.ParseQuantity(s.memory)
		if err != nil || quantity.Value() < watch.MinMemory {
			return 0, &usageError{
				fmt.Errorf("--memory-limit is %q; it takes a size from %dMi, such as 512Mi, or off", s.memory,
					watch.MinMemory>>20),
			}
		}
		limit = quantity.Value()
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * heapTenths)
	}
	if limit < watch.MinMemory {
		log.Warn("the container's memory is less than the program needs; what is watched is held to what the least "+
			"--memory-limit gives", "bytes", limit, "least", watch.MinMemory)
	}
	return max(limit, watch.MinMemory), nil
}
