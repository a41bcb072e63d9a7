// Package health determines whether an object is healthy, and gives the reasons as sentences.
//
// The status is from kstatus (github.com/fluxcd/cli-utils), as in Flux. Common kinds have stricter rules. For example,
// kstatus reports Current for a failed Pod, because the Pod is reconciled.
//
// Custom resources have the rules of Argo CD, which are Lua scripts. The administrator can add scripts.
//
// The Health depends only on the JSON text, unless a script reads the clock. The size of a Health is limited.
package health

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
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

// Health describes whether an object is healthy, and why. Sentences have no final period. They can quote text
// from the cluster, such as the message of a condition.
type Health struct {
	Status  Status   `json:"status"`
	Summary string   `json:"summary"` // one or two sentences; can be empty if Status is Current
	Details []string `json:"details"` // further sentences, the worst first; never nil
}

type kstatusResult struct {
	status          Status
	reason, message string
}

// computeStatus uses kstatus, which panics if a field has an unexpected type. The status is then Unknown.
func computeStatus(o object.Object) (v kstatusResult) {
	defer func() {
		if recover() != nil {
			v = kstatusResult{Unknown, "", "a field has an unexpected type"}
		}
	}()
	result, err := status.Compute(&unstructured.Unstructured{Object: o})
	if err != nil {
		return kstatusResult{Unknown, "", err.Error()}
	}
	v = kstatusResult{status: Status(result.Status), message: result.Message}
	if len(result.Conditions) > 0 {
		v.reason = result.Conditions[0].Reason
	}
	return v
}

func (k kstatusResult) toResult(o object.Object) result {
	h := result{Health: Health{Status: k.status}, reason: k.reason}
	ready := o.Condition("Ready")
	switch {
	case k.generalSummary(o) != "":
	case k.status == Unknown:
		h.Summary = "The status cannot be read: " + k.message
	case k.status == Failed:
		h.Summary = "Stalled: " + message.Join(k.reason, k.message)
	case k.status == InProgress && o.Condition("Reconciling").Is("True"):
		h.Summary = "Reconciling: " + message.Join(k.reason, k.message)
	case k.status == InProgress:
		h.Summary = "Not ready: " + message.Join(k.reason, k.message)
		if c := o.ConditionNamedBy(k.message); c.Kind != "" {
			h.Summary, h.reason = "Not ready: "+c.Kind+": "+c.Explanation(), cmp.Or(c.Reason, h.reason)
		}
	case ready.Is("True"):
		h.Summary = "Ready"
		if ready.Message != "" {
			h.Details = []string{ready.Message}
		}
	}
	return h
}

// generalSummary returns a sentence about a deletion or about a controller that has not observed the object, or "".
func (k kstatusResult) generalSummary(o object.Object) string {
	switch {
	case k.status == Terminating:
		return intent.Deletion(o)
	case k.reason == "LatestGenerationNotObserved" && o.Condition("Progressing").Reason == "ReplicaSetCreateError":
		// kube-controller-manager does not update observedGeneration if it cannot create a ReplicaSet.
	case k.reason == "LatestGenerationNotObserved":
		return "Controller has not observed the latest spec"
	case k.reason == "NoObservedGeneration":
		return "Controller has not observed the latest spec yet"
	}
	return ""
}

func (k kstatusResult) override(o object.Object, h *result) {
	general := k.generalSummary(o)
	if general == "" {
		return
	}
	if h.Summary != "" {
		h.Details = slices.Insert(h.Details, 0, h.Summary)
	}
	h.Status, h.Summary, h.severity = k.status, general, verdict.None
	h.reason, h.overdueReason, h.overdueSummary = k.reason, "", ""
	switch {
	case k.status == Terminating:
		h.reason = string(Terminating)
		h.progress(o.Time("metadata", "deletionTimestamp"), verdict.Degraded)
		h.explainDeletion(o)
	case h.hasRules:
		h.setUnobserved(o, time.Time{}, max(h.overdue, verdict.Degraded))
	case h.promised > 0: // A custom resource.
		h.explainUnobserved(o)
	}
}

func (h *Health) limit() {
	h.Summary = message.Line(h.Summary, maxText)
	if more := len(h.Details) - maxDetails; more > 0 {
		h.Details = append(h.Details[:maxDetails-1], fmt.Sprintf("%d more", more+1))
	}
	details := make([]string, len(h.Details))
	for i, detail := range h.Details {
		details[i] = message.Line(detail, maxText)
	}
	h.Details = details
}
