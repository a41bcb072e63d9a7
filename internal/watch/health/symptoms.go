package health

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// applySymptoms handles problems that objects of many kinds report in the same form. An object with such a problem is
// degraded or failed if the problem lasts. If the problem is final, the object is failed at once. If another rule has
// already found a problem, applySymptoms only adds the most specific message to the summary.
func (r *result) applySymptoms(o object.Object) {
	if r.isCalm(o) {
		r.Status, r.severity, r.promised = Current, verdict.OK, 0
		return
	}
	if r.Status != Current {
		r.applyExpiry(o)
		if r.Status == InProgress || r.Status == Failed {
			r.Summary = symptom.WithDetail(o, r.Summary)
		}
		return
	}
	if s, ok := symptom.Of(o, r.severity == verdict.OK); ok {
		r.set(&s)
		return
	}
	if s, ok := symptom.Dependency(o); ok && r.severity == verdict.None && r.Summary == "" {
		r.Status, r.reason, r.Summary = InProgress, s.Reason, s.Sentence
		return
	}
	r.applyExpiry(o)
	if r.Summary == "" && len(o.Conditions()) == 0 && (o.Flag("status", "ready") || o.Flag("status", "readyToUse")) {
		r.Summary = "Ready"
	}
}

// set changes the health to that of an object with a problem: failed if the problem is final, and otherwise
// progressing, so that the object becomes overdue if the problem lasts.
func (r *result) set(s *symptom.Symptom) {
	if r.Summary != "" {
		r.Details = append([]string{r.Summary}, r.Details...)
	}
	r.Status, r.severity, r.reason, r.Summary = InProgress, verdict.None, s.Reason, s.Sentence
	r.progress(s.Since, verdict.Degraded)
	switch {
	case s.IsFinal:
		r.Status, r.severity, r.promised = Failed, verdict.Failed, 0
	case s.IsTotal:
		r.overdue = verdict.Failed
	case s.IsWaiting:
		r.promised = customSettleTime
	}
}

// applyStop handles an object that is suspended according to a script, but not by a person: the message of the script
// names an error, because of which the controller does not continue. The condition Ready must be False, too.
func (r *result) applyStop(o object.Object) {
	c := o.Condition("Ready")
	if !c.Is("False") || !symptom.NamesError(r.Summary) || symptom.HasPausedController(o) || symptom.IsEndedByPerson(o) {
		return
	}
	s := symptom.Symptom{Reason: c.Reason, Sentence: r.Summary, Since: c.ChangedAt}
	r.Summary = ""
	r.set(&s)
}

// applyExpiry makes a healthy object overdue when its certificate expires, or adds this time to a summary of progress.
func (r *result) applyExpiry(o object.Object) {
	expiry, text := symptom.Expiry(o)
	switch {
	case expiry.IsZero():
	case r.Status == InProgress:
		r.Summary += "; certificate expiry: " + text
	case r.Status == Current && r.promised == 0:
		r.progress(expiry, verdict.Degraded)
		r.overdueReason, r.overdueSummary = "Expired", "The certificate expired at "+text
	}
}

// explainUnobserved explains why the controller of a custom resource has not observed the latest spec for a long time.
// It first names a problem in the status, because some controllers set observedGeneration only after a success.
func (r *result) explainUnobserved(o object.Object) {
	r.explainOverdue("Controller has not observed the latest spec", "it might not be running")
	if s, ok := symptom.Of(o, false); ok {
		r.overdueReason, r.overdueSummary = s.Reason, strings.TrimRight(s.Sentence, ".")+". "+r.overdueSummary
	}
}

// isCalm reports whether an object is not ready on purpose: it is idle, paused, or waits for the approval of a person.
func (r *result) isCalm(o object.Object) bool {
	isOwn := r.severity == verdict.None // No script set the status: it would have set a severity, too.
	isOpen := r.Status == Failed || r.Status == InProgress
	return r.Status != Current && symptom.IsIdle(o) ||
		isOpen && (symptom.AwaitsApproval(o) || symptom.IsEndedByPerson(o)) ||
		r.Status == Failed && symptom.IsPaused(o) ||
		r.Status == InProgress && symptom.WaitsForConsumer(o) ||
		r.Status == InProgress && isOwn && symptom.IsSuspended(o) ||
		r.Status == InProgress && (isOwn || intent.MayStop(o.Child("spec"))) && symptom.HasStopped(o)
}
