package health

import (
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// controllerManager runs the controllers of Kubernetes. While it is down, no controller reports missed deadlines.
const controllerManager = "kube-controller-manager"

// setUnobserved makes a built-in object overdue if its controller does not observe its spec in time. Normally, that
// takes less than a second. The kubelet restarts a failed kube-controller-manager after at most 5 minutes.
func (r *result) setUnobserved(o object.Object, startedAt time.Time, overdue verdict.Severity) {
	r.progress(startedAt, overdue)
	likely := controllerManager + " might not be running"
	if !slices.Contains([]string{"", "apps", "autoscaling", "batch", "policy"}, o.Group()) {
		likely = "it might not be running"
	}
	r.explainOverdue("Controller has not observed the latest spec", likely)
}

// explainNeverObserved explains a new workload that no controller has observed: its controller is probably not running.
func (r *result) explainNeverObserved(o object.Object) {
	if r.Status == InProgress && r.overdueSummary == "" && o.IsNeverObserved() {
		r.setUnobserved(o, r.startedAt, r.overdue)
		r.overdueReason = "NoObservedGeneration"
	}
}

// explainDeletion adds an error to the sentence of an overdue deletion: the error that the object's controller reports.
// It ignores pods, whose errors can be older than the deletion.
func (r *result) explainDeletion(o object.Object) {
	failure := ""
	switch {
	case o.Text("kind") == "Pod":
	case len(r.Details) > 0 && symptom.NamesError(r.Details[0]):
		failure = r.Details[0]
	case !r.hasRules:
		failure = symptom.Detail(o, r.Summary)
	}
	if failure != "" {
		r.overdueReason, r.overdueSummary = r.reason, r.Summary+". "+failure
	}
}
