package health

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// applySymptoms makes an object degraded that reports a problem in a way common to many kinds, after the problem lasts.
// For other problems, it adds the most specific message of the status.
func (r *result) applySymptoms(o object.Object) {
	isOwn := r.Status == InProgress && r.severity == verdict.None // Otherwise, it is the result of a script.
	isIdle := isOwn && symptom.IsSuspended(o) || r.Status != Current && symptom.IsIdle(o)
	isWaiting := r.Status == InProgress && symptom.AwaitsApproval(o) || r.Status == Failed && symptom.IsPaused(o)
	if isIdle || isWaiting {
		r.Status, r.severity, r.promised = Current, verdict.OK, 0
		return
	}
	if r.Status != Current {
		if r.Status == InProgress || r.Status == Failed {
			if detail := symptom.Detail(o, r.Summary); detail != "" {
				r.Summary = strings.TrimPrefix(r.Summary+". "+detail, ". ")
			}
		}
		return
	}
	if s, ok := symptom.Of(o, r.severity == verdict.OK); ok {
		if r.Summary != "" {
			r.Details = append([]string{r.Summary}, r.Details...)
		}
		r.Status, r.severity, r.reason, r.Summary = InProgress, verdict.None, s.Reason, s.Sentence
		r.progress(s.Since, verdict.Degraded)
		if s.IsWaiting {
			r.promised = customSettleTime
		}
		return
	}
	isReady := o.Flag("status", "ready") || o.Flag("status", "readyToUse")
	if r.Summary == "" && isReady && len(o.Conditions()) == 0 {
		r.Summary = "Ready"
	}
}
