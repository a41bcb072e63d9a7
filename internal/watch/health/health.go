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
	"slices"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Health describes whether an object is healthy, and why. Sentences have no final period. They can quote text
// from the cluster, such as the message of a condition.
type Health struct {
	Status  result.Status `json:"status"`
	Summary string        `json:"summary"` // one or two sentences; can be empty if Status is Current
	Details []string      `json:"details"` // further sentences, the worst first; never nil
}

type kstatusResult struct {
	status          result.Status
	reason, message string
}

// computeStatus uses kstatus, which panics if a field has an unexpected type. The status is then Unknown.
func computeStatus(o object.Object) (v kstatusResult) {
	defer func() {
		if recover() != nil {
			v = kstatusResult{result.Unknown, "", "a field has an unexpected type"}
		}
	}()
	computed, err := status.Compute(&unstructured.Unstructured{Object: o})
	if err != nil {
		return kstatusResult{result.Unknown, "", err.Error()}
	}
	v = kstatusResult{status: result.Status(computed.Status), message: computed.Message}
	if len(computed.Conditions) > 0 {
		v.reason = computed.Conditions[0].Reason
	}
	return v
}

func (k kstatusResult) toResult(o object.Object) result.Result {
	h := result.Result{Status: k.status, Reason: k.reason}
	ready := o.Condition("Ready")
	switch {
	case k.generalSummary(o) != "":
	case k.status == result.Unknown:
		h.Summary = "The status cannot be read: " + k.message
	case k.status == result.Failed:
		h.Summary = "Stalled: " + message.Join(k.reason, k.message)
	case k.status == result.InProgress && o.Condition("Reconciling").Is("True"):
		h.Summary = "Reconciling: " + message.Join(k.reason, k.message)
	case k.status == result.InProgress:
		h.Summary = "Not ready: " + message.Join(k.reason, k.message)
		if c := o.ConditionNamedBy(k.message); c.Kind != "" {
			h.Summary, h.Reason = "Not ready: "+c.Kind+": "+c.Explanation(), cmp.Or(c.Reason, h.Reason)
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
	case k.status == result.Terminating:
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

func (k kstatusResult) override(o object.Object, h *result.Result) {
	general := k.generalSummary(o)
	if general == "" {
		return
	}
	if h.Summary != "" {
		h.Details = slices.Insert(h.Details, 0, h.Summary)
	}
	h.Status, h.Summary, h.Severity = k.status, general, verdict.None
	h.Reason, h.OverdueReason, h.OverdueSummary = k.reason, "", ""
	switch {
	case k.status == result.Terminating:
		h.Reason = string(result.Terminating)
		h.Progress(o.Time("metadata", "deletionTimestamp"), verdict.Degraded)
		explainDeletion(h, o)
	case h.HasRules:
		h.SetUnobserved(o, time.Time{}, max(h.Overdue, verdict.Degraded))
	case h.Promised > 0: // A custom resource.
		explainUnobserved(h, o)
	}
}
