package container

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/ready"
)

// maxInterval is the maximum time between two restarts of a container for the restarts to count as frequent.
const maxInterval = 30 * time.Minute

// Restarts describes a running container that has restarted at least ready.ManyRestarts times, the last time after an
// error. After the time until, the container has run long enough to count as healthy again: for the duration least or,
// if the container restarts often, for twice the restart interval if this is longer. The restart interval is the
// average time between restarts, or the lifetime of the previous instance if this is longer. The parameter created is
// the creation time of the pod.
func Restarts(all []Container, created time.Time, least time.Duration) (sentence string, until time.Time) {
	for i := range all {
		c := &all[i]
		run, isRunning := c.State("running")
		last, count := c.Status.Child("lastState", "terminated"), c.Status.Count("restartCount")
		startedAt := run.Time("startedAt")
		if !isRunning || count < ready.ManyRestarts || last == nil || startedAt.IsZero() || last.Count("exitCode") == 0 {
			continue
		}
		needed := least
		interval := max(startedAt.Sub(created)/time.Duration(count), last.Time("finishedAt").Sub(last.Time("startedAt")))
		if !created.IsZero() && interval <= maxInterval {
			needed = max(least, 2*interval)
		}
		if at := startedAt.Add(needed); at.After(until) {
			until = at
			sentence = fmt.Sprintf("%s %s: restarted %d times, last %s", c.Role, c.Name, count, exitText(last))
		}
	}
	return sentence, until
}
