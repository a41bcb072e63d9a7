package health

import (
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// applySymptoms handles problems that objects of many kinds report in the same form. An object with such a problem is
// degraded or failed if the problem lasts. If the problem is final, the object is failed at once. If another rule has
// already found a problem, applySymptoms only adds the most specific message to the summary.
func applySymptoms(r *result.Result, o object.Object) {
	if isCalm(r, o) {
		r.Status, r.Severity, r.Promised = result.Current, verdict.OK, 0
		return
	}
	if r.Status != result.Current {
		applyExpiry(r, o)
		if r.Status == result.InProgress || r.Status == result.Failed {
			r.Summary = symptom.WithDetail(o, r.Summary)
		}
		return
	}
	if s, ok := symptom.Of(o, r.Severity == verdict.OK); ok {
		set(r, &s)
		return
	}
	if s, ok := symptom.Dependency(o); ok && r.Severity == verdict.None && r.Summary == "" {
		r.Status, r.Reason, r.Summary = result.InProgress, s.Reason, s.Sentence
		return
	}
	applyExpiry(r, o)
	if r.Summary == "" && len(o.Conditions()) == 0 && (o.Flag("status", "ready") || o.Flag("status", "readyToUse")) {
		r.Summary = "Ready"
	}
}

// set changes the health to that of an object with a problem: failed if the problem is final, and otherwise
// progressing, so that the object becomes overdue if the problem lasts.
func set(r *result.Result, s *symptom.Symptom) {
	if r.Summary != "" {
		r.Details = append([]string{r.Summary}, r.Details...)
	}
	r.Status, r.Severity, r.Reason, r.Summary = result.InProgress, verdict.None, s.Reason, s.Sentence
	r.Progress(s.Since, verdict.Degraded)
	switch {
	case s.IsFinal:
		r.Status, r.Severity, r.Promised = result.Failed, verdict.Failed, 0
	case s.IsTotal:
		r.Overdue = verdict.Failed
	case s.IsWaiting:
		r.Promised = customSettleTime
	}
}

// applyStop handles an object that is suspended according to a script, but not by a person: the message of the script
// names an error, because of which the controller does not continue. The condition Ready must be False, too.
func applyStop(r *result.Result, o object.Object) {
	c := o.Condition("Ready")
	if !c.Is("False") || !wording.NamesError(r.Summary) || symptom.HasPausedController(o) || symptom.IsEndedByPerson(o) {
		return
	}
	s := symptom.Symptom{Reason: c.Reason, Sentence: r.Summary, Since: c.ChangedAt}
	r.Summary = ""
	set(r, &s)
}

// applyExpiry makes a healthy object overdue when its certificate expires, or adds this time to a summary of progress.
func applyExpiry(r *result.Result, o object.Object) {
	expiry := o.Time("status", "notAfter")
	text := expiry.UTC().Format(time.RFC3339)
	switch {
	case expiry.IsZero():
	case r.Status == result.InProgress:
		r.Summary += "; certificate expiry: " + text
	case r.Status == result.Current && r.Promised == 0:
		r.Progress(expiry, verdict.Degraded)
		r.OverdueReason, r.OverdueSummary = "Expired", "The certificate expired at "+text
	}
}

// explainUnobserved explains why the controller of a custom resource has not observed the latest spec for a long time.
// It first names a problem in the status, because some controllers set observedGeneration only after a success.
func explainUnobserved(r *result.Result, o object.Object) {
	r.ExplainOverdue("Controller has not observed the latest spec", "it might not be running")
	if s, ok := symptom.Of(o, false); ok {
		r.OverdueReason, r.OverdueSummary = s.Reason, strings.TrimRight(s.Sentence, ".")+". "+r.OverdueSummary
	}
}

// isCalm reports whether an object is not ready on purpose: it is idle, paused, or waits for the approval of a person.
func isCalm(r *result.Result, o object.Object) bool {
	isOwn := r.Severity == verdict.None // No script set the status: it would have set a severity, too.
	isOpen := r.Status == result.Failed || r.Status == result.InProgress
	return r.Status != result.Current && symptom.IsIdle(o) ||
		isOpen && (symptom.AwaitsApproval(o) || symptom.IsEndedByPerson(o)) ||
		r.Status == result.Failed && symptom.IsPaused(o) ||
		r.Status == result.InProgress && symptom.WaitsForConsumer(o) ||
		r.Status == result.InProgress && isOwn && symptom.IsSuspended(o) ||
		r.Status == result.InProgress && (isOwn || intent.MayStop(o.Child("spec"))) && symptom.HasStopped(o)
}
