// Package result describes the health of one object while rules determine it: its status, the texts that explain it,
// and when its progress has lasted too long. Rules set the fields of a Result, and Verdict then rates it. The methods
// do not read the clock. Limit limits the size of a Result. The size of a verdict is always limited.
package result

import (
	"fmt"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Status is the state of an object, in the terms of kstatus.
type Status string

// The statuses of kstatus.
const (
	Current     Status = "Current"    // in the desired state, as the field status shows
	InProgress  Status = "InProgress" // changing towards the desired state
	Failed      Status = "Failed"     // not in the desired state; a person must act
	Terminating Status = "Terminating"
	Unknown     Status = "Unknown" // cannot be determined from the field status
)

const (
	maxDetails = 20
	maxText    = 1000
)

// SettleTime is the maximum time for progress, for objects without a deadline of their own. It equals the default
// progressDeadlineSeconds of a Deployment.
const SettleTime = 10 * time.Minute

// ControllerManager runs the controllers of Kubernetes. While it is down, no controller reports missed deadlines.
const ControllerManager = "kube-controller-manager"

// Result is the health of an object, with additional data for the verdict. Sentences have no final period.
type Result struct {
	Status  Status
	Summary string   // One or two sentences. It can be empty if Status is Current.
	Details []string // Further sentences, the worst first.

	Severity verdict.Severity // None means that the status determines the severity.
	Reason   string
	OKReason string // The reason of a verdict whose severity is None or OK.
	HasRules bool   // The rules of package kinds cover the kind of the object.
	// HasNoSeverity means that the object can be neither healthy nor unhealthy.
	HasNoSeverity bool
	// At StartedAt + Promised, the severity changes from OK or Progressing to the value of the field Overdue. If
	// Promised is 0, the severity does not change.
	StartedAt time.Time
	Promised  time.Duration
	Overdue   verdict.Severity
	// A ready pod with frequent restarts is degraded until the time RestartsUntil. The field Restarts is then the
	// sentence of its verdict.
	Restarts      string
	RestartsUntil time.Time
	// At StartedAt + Promised, the object becomes overdue. If OverdueSummary is not empty, these fields then replace
	// the reason and the summary.
	OverdueReason, OverdueSummary string
}

// Progress makes the object overdue at startedAt + SettleTime. A zero startedAt means the time of the object's last
// change.
func (r *Result) Progress(startedAt time.Time, overdue verdict.Severity) {
	r.StartedAt, r.Promised, r.Overdue = startedAt, SettleTime, overdue
	r.OverdueReason, r.OverdueSummary = "", ""
}

// ExplainOverdue sets the summary of an overdue object. The summary contains the problem, the minimum time for which it
// has lasted (r.Promised), and the likely cause. The reason of the verdict does not change.
func (r *Result) ExplainOverdue(problem, likely string) {
	r.OverdueReason = r.Reason
	r.OverdueSummary = fmt.Sprintf("%s for more than %d minutes: %s", problem, int(r.Promised.Minutes()), likely)
}

// SetUnobserved makes a built-in object overdue if its controller does not observe its spec in time. Normally, that
// takes less than a second. The kubelet restarts a failed kube-controller-manager after at most 5 minutes.
func (r *Result) SetUnobserved(o object.Object, startedAt time.Time, overdue verdict.Severity) {
	r.Progress(startedAt, overdue)
	likely := ControllerManager + " might not be running"
	if !slices.Contains([]string{"", "apps", "autoscaling", "batch", "policy"}, o.Group()) {
		likely = "it might not be running"
	}
	r.ExplainOverdue("Controller has not observed the latest spec", likely)
}

// Limit limits the size of the summary and of the details, and the number of details. Details is then not nil.
func (r *Result) Limit() {
	r.Summary = message.Line(r.Summary, maxText)
	if more := len(r.Details) - maxDetails; more > 0 {
		r.Details = append(r.Details[:maxDetails-1], fmt.Sprintf("%d more", more+1))
	}
	details := make([]string, len(r.Details))
	for i, detail := range r.Details {
		details[i] = message.Line(detail, maxText)
	}
	r.Details = details
}
