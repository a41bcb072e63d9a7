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

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
)

type watchSettings struct {
	always    []string
	linger    time.Duration
	inherit   bool
	memory    string
	ringBytes string
	ringAge   time.Duration
}

func (s *watchSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&s.always, "watch", nil,
		"Resources to watch even without readers, such as core/v1/pods,apps/v1/deployments.")
	flags.DurationVar(&s.linger, "linger", 5*time.Minute,
		"How long the program watches a resource after its last reader (a page or another client) has left.")
	flags.BoolVar(&s.inherit, "inherit-verdicts", true,
		"Also report problems that an object has because of other objects. For example, a Deployment has a problem "+
			"if its pods crash. To find such problems, the program also watches related resources while a page or "+
			"another client searches, or reads objects that can have such problems.")
	flags.StringVar(&s.memory, "memory-limit", "",
		"The memory limit of the program, such as 512Mi; off means no limit. The default is the memory limit of the "+
			"container, if there is one.")
	flags.StringVar(&s.ringBytes, "ring-bytes", "64Mi",
		"The maximum size of the history (recent changes) of each resource. Clients resume from it after a lost connection.")
	flags.DurationVar(&s.ringAge, "ring-age", 5*time.Minute, "The maximum age of changes in the history of each resource.")
}

// options returns the watch options that the flags set. It also sets the memory limit of the Go runtime. The parameter
// container is a function that returns the memory limit of the program's container in bytes.
func (s *watchSettings) options(log *slog.Logger, container func() (uint64, error)) (watch.Options, error) {
	options := watch.Options{
		Pinned: s.always, Linger: s.linger, InheritVerdicts: s.inherit, Ring: informer.Ring{Age: s.ringAge},
	}
	for _, ref := range s.always {
		if strings.Count(ref, "/") != 2 {
			return options, &usageError{
				fmt.Errorf("--watch %q is not a resource: write group/version/resource, such as core/v1/pods or "+
					"apps/v1/deployments", ref),
			}
		}
	}
	if s.linger <= 0 || s.ringAge <= 0 {
		return options, &usageError{
			fmt.Errorf("--linger is %s and --ring-age is %s; both must be positive, such as 5m", s.linger, s.ringAge),
		}
	}
	ring, err := resource.ParseQuantity(s.ringBytes)
	if err != nil || ring.Value() < 1<<20 || ring.Value() > 1<<40 {
		return options, &usageError{
			fmt.Errorf("--ring-bytes is %q; it must be a size from 1Mi to 1Ti, such as 64Mi", s.ringBytes),
		}
	}
	options.Ring.Bytes = int(ring.Value())
	options.MemoryLimit, err = s.memoryLimit(log, container)
	return options, err
}

// heapTenths is the Go runtime's share of the memory limit, in tenths. The program's binary and sockets need the
// rest.
const heapTenths = 8

// memoryLimit returns the value of --memory-limit in bytes or, without the flag, the limit of the container (0: none).
func (s *watchSettings) memoryLimit(log *slog.Logger, container func() (uint64, error)) (int64, error) {
	var limit int64
	switch s.memory {
	case "off":
		return 0, nil
	case "":
		found, err := container()
		if err != nil || found > 1<<40 {
			return 0, nil //nolint:nilerr // The program is not in a container, or in one without a limit.
		}
		limit = int64(found)
	default:
		quantity, err := resource.ParseQuantity(s.memory)
		if err != nil || quantity.Value() < budget.MinMemory {
			return 0, &usageError{
				fmt.Errorf("--memory-limit is %q; it must be a size of at least %dMi, such as 512Mi, or off", s.memory,
					budget.MinMemory>>20),
			}
		}
		limit = quantity.Value()
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * heapTenths)
	}
	if limit < budget.MinMemory {
		log.Warn("the memory limit of the container is less than the minimum that the program needs; raise the limit, "+
			"or the container can run out of memory", "limit_bytes", limit, "minimum_bytes", budget.MinMemory)
	}
	return max(limit, budget.MinMemory), nil
}
