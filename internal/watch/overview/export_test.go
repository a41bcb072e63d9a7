package overview

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// LatencyStep exports latencyStep.
func LatencyStep(latency time.Duration) int { return latencyStep(latency) }

// LastChange exports lastChange.
func LastChange(changes []Change, o verdict.Object, others []verdict.Object, since time.Time) *Change {
	return lastChange(changes, o, others, since)
}

// ChangedPath exports changedPath.
func ChangedPath(delta []byte) string { return changedPath(delta) }
