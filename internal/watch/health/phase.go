package health

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// applyPhase sets the health of a custom resource from status.phase or status.state, as many operators write it. It is
// for kinds without rules and without conditions, of which kstatus knows nothing.
func (r *result) applyPhase(o object) {
	if r.Status != Current || r.Summary != "" || len(o.conditions()) > 0 {
		return
	}
	phase := o.text("status", "phase")
	if phase == "" {
		phase = o.text("status", "state")
	}
	switch strings.ToLower(phase) {
	case "failed", "error", "errored", "failure", "degraded", "unhealthy", "crashed", "lost":
		r.Status, r.severity, r.reason = Failed, verdict.Failed, phase
		if strings.EqualFold(phase, "degraded") || strings.EqualFold(phase, "unhealthy") {
			r.severity = verdict.Degraded
		}
	case "succeeded", "success", "completed", "complete", "ready", "healthy", "available", "bound", "deployed":
	default:
		return // Other words have no common meaning.
	}
	r.Summary = phase
	for _, member := range []string{"message", "reason", "error"} {
		if text := o.text("status", member); text != "" {
			r.Summary = phase + ": " + text
			break
		}
	}
}
