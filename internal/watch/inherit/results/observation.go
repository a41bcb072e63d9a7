package results

import (
	"sync"
	"time"
)

// observeDelay is the time from the first evaluation of all objects until a new problem counts as observed. Before
// that, a problem that is new for an object can be an old problem that the object inherits only now.
const observeDelay = 10 * time.Second

// Observation decides whether a verdict that is new to the engine is also new in the cluster. While the engine still
// reads existing objects, the answer is no, because their problems can be older. The zero value is ready to use.
type Observation struct {
	mu       sync.Mutex
	restarts int
	from     time.Time // When the evaluation of all objects that were read was complete; zero until then.
}

// Restart records that the evaluation of all objects is incomplete again, because the engine begins to read more
// objects.
func (o *Observation) Restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.restarts++
	o.from = time.Time{}
}

// RestartCount returns the number of calls of Restart.
func (o *Observation) RestartCount() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.restarts
}

// Complete records that all objects are evaluated, and the time. The parameter is the RestartCount from before the
// evaluation. Complete does nothing if Restart was called since then, or if the time is already recorded.
func (o *Observation) Complete(restarts int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.restarts == restarts && o.from.IsZero() {
		o.from = time.Now()
	}
}

// IsRunning reports whether a verdict that is new to the engine now is also new in the cluster (see Observation).
func (o *Observation) IsRunning() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.from.IsZero() && time.Since(o.from) >= observeDelay
}

// maxPause is how long an object with a problem can be progressing before its problem counts as ended. It is longer
// than the delays of a container that crashes again and again.
const maxPause = 15 * time.Minute

// maxRecovery is how long an object can be OK before its problem counts as ended. A container that crashes again and
// again can be ready for some time between two crashes. The value is the longest back-off of the kubelet.
const maxRecovery = 5 * time.Minute

// episode is the time in which an object is not OK, apart from short recoveries.
type episode struct {
	// leftOK is the time since which the object is not OK. began is the time since which it is degraded or failed. Each
	// is zero if the engine did not observe this change.
	leftOK, began time.Time
	firstSeen     time.Time // When the engine first saw the problem.
	pausedAt      time.Time // Since when the problem pauses: the object is progressing or OK. Zero without a pause.
	hasProblem    bool
}

// update records a verdict that is not OK. isProblem means that the verdict is degraded or failed. isObserved means
// that the engine saw the verdict begin.
func (e *episode) update(now time.Time, isObserved, isProblem bool) {
	switch {
	case !isProblem:
		if e.hasProblem && e.pausedAt.IsZero() {
			e.pausedAt = now
		}
		return
	case !e.hasProblem || !e.pausedAt.IsZero() && now.Sub(e.pausedAt) > maxPause:
		e.hasProblem, e.began, e.firstSeen = true, time.Time{}, now
		if isObserved {
			e.began = now
		}
	}
	e.pausedAt = time.Time{}
}
