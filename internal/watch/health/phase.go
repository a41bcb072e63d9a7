package health

import (
	"cmp"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// applyPhase sets the health of a custom resource from status.phase or status.state, which many operators write. It
// changes nothing if the object has conditions, or if other rules have determined its health.
func applyPhase(r *result.Result, o object.Object) {
	if r.Status != result.Current || r.Summary != "" || len(o.Conditions()) > 0 {
		return
	}
	phase := cmp.Or(o.Text("status", "phase"), o.Text("status", "state"))
	switch strings.ToLower(phase) {
	case "failed", "error", "errored", "failure", "crashed", "lost":
		r.Status, r.Severity, r.Reason = result.Failed, verdict.Failed, phase
	case "degraded", "unhealthy":
		r.Status, r.Severity, r.Reason = result.Failed, verdict.Degraded, phase
	case "succeeded", "success", "completed", "complete", "ready", "healthy", "available", "bound", "deployed":
	default:
		return // Other words have no common meaning.
	}
	r.Summary = strings.TrimSuffix(phase+": "+symptom.Explanation(o, r.Status == result.Failed), ": ")
}

// customSettleTime is the time after which the progress of a custom resource is overdue. It is long, because some
// controllers create cloud resources.
const customSettleTime = 30 * time.Minute

// limitProgress makes a custom resource overdue after customSettleTime in progress. The progress began at the newest
// transition of a condition, or else when the object last changed.
func limitProgress(r *result.Result, o object.Object) {
	if r.Promised > 0 || r.Status != result.InProgress || symptom.HasPausedController(o) {
		return
	}
	var startedAt time.Time
	for _, c := range o.Conditions() {
		if c.ChangedAt.After(startedAt) {
			startedAt = c.ChangedAt
		}
	}
	r.Progress(startedAt, verdict.Degraded)
	r.Promised = symptom.ProgressTimeout(o, customSettleTime)
}
