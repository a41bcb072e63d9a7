package health

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// explainNeverObserved explains a new workload that no controller has observed: its controller is probably not running.
func explainNeverObserved(r *result.Result, o object.Object) {
	if r.Status == result.InProgress && r.OverdueSummary == "" && o.IsNeverObserved() {
		r.SetUnobserved(o, r.StartedAt, r.Overdue)
		r.OverdueReason = "NoObservedGeneration"
	}
}

// explainDeletion adds an error to the sentence of an overdue deletion: the error that the object's controller reports.
// It ignores pods, whose errors can be older than the deletion.
func explainDeletion(r *result.Result, o object.Object) {
	failure := ""
	switch {
	case o.Text("kind") == "Pod":
	case len(r.Details) > 0 && wording.NamesError(r.Details[0]):
		failure = r.Details[0]
	case !r.HasRules:
		failure = symptom.Detail(o, r.Summary)
	}
	if failure != "" {
		r.OverdueReason, r.OverdueSummary = r.Reason, r.Summary+". "+failure
	}
}
