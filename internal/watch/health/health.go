// Package health computes whether an object is healthy, and the reasons, as sentences for people.
//
// The status is the result of kstatus (github.com/fluxcd/cli-utils), which kubectl apply --prune and Flux use. kstatus
// has generic rules for every kind, and special rules for some built-in kinds. For the most used kinds, this package
// has its own rules, which add reasons. Some of them are stricter: kstatus checks whether an object was reconciled, but
// a person wants to know whether it works. A failed Pod, for example, is reconciled.
//
// All functions are pure: the same JSON text gives the same Health at any time. Every text has a Health, also one that
// is not a valid object. A call makes a few passes over the text at most, and the size of each Health is bounded.
package health

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Status is the state of an object, in the terms of kstatus.
type Status string

// The statuses of an object.
const (
	Current     Status = "Current"     // The object is in the desired state, as far as its status shows.
	InProgress  Status = "InProgress"  // The object is on the way to the desired state.
	Failed      Status = "Failed"      // The object is not in the desired state, and a person must act.
	Terminating Status = "Terminating" // The object is being deleted.
	Unknown     Status = "Unknown"     // The status does not show the state.
)

const (
	maxDetails = 20
	maxText    = 1000 // Maximum length of a sentence, in bytes.
)

// Health is whether an object is healthy, with the reasons. Sentences begin with a capital letter and have no final
// period. They may contain, or consist of, texts from the cluster.
type Health struct {
	Status  Status   `json:"status"`
	Summary string   `json:"summary"` // One or two sentences; empty if the status Current needs no explanation.
	Details []string `json:"details"` // Further sentences, the worst first; never nil.
}

// Of returns the Health of an object, given as its JSON text. Text that cannot be read has the status Unknown.
func Of(text []byte) Health {
	o, err := read(text)
	if err != nil {
		return Health{Status: Unknown, Summary: "The object cannot be read", Details: []string{}}
	}
	result := computeStatus(o)
	h := result.toHealth(o)
	if compute := rulesFor(o); compute != nil {
		h = compute(o, result.status)
	}
	result.override(o, &h)
	h.limit()
	return h
}

// kstatusResult is the result of kstatus for one object.
type kstatusResult struct {
	status          Status
	reason, message string
}

// computeStatus runs kstatus for an object. kstatus panics if a member has another type than the API server would send;
// the result is then Unknown.
func computeStatus(o node) (v kstatusResult) {
	defer func() {
		if recover() != nil {
			v = kstatusResult{Unknown, "", "its fields have unexpected types"}
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

// toHealth returns the kstatusResult of kstatus as a Health. It is used for kinds without rules in this package.
func (v kstatusResult) toHealth(o node) Health {
	h := Health{Status: v.status}
	ready := o.condition("Ready")
	switch {
	case v.generalSummary(o) != "":
	case v.status == Unknown:
		h.Summary = "The status cannot be read: " + v.message
	case v.status == Failed:
		h.Summary = "Stalled: " + joinReason(v.reason, v.message)
	case v.status == InProgress && o.condition("Reconciling").is("True"):
		h.Summary = "Reconciling: " + joinReason(v.reason, v.message)
	case v.status == InProgress:
		h.Summary = "Not ready: " + joinReason(v.reason, v.message)
	case ready.is("True"):
		h.Summary = "Ready"
		if ready.message != "" {
			h.Details = []string{ready.message}
		}
	}
	return h
}

// generalSummary returns a sentence if the result of kstatus takes precedence over the rules of a kind: the object is
// being deleted, or its controller has not seen it yet. For any other result of kstatus, it returns "".
func (v kstatusResult) generalSummary(o node) string {
	finalizers := o.texts("metadata", "finalizers")
	switch {
	case v.status == Terminating && len(finalizers) == 1:
		return "Being deleted; waiting for finalizer " + finalizers[0]
	case v.status == Terminating && len(finalizers) > 1:
		return "Being deleted; waiting for finalizers " + strings.Join(finalizers, ", ")
	case v.status == Terminating:
		return "Being deleted"
	case v.reason == "LatestGenerationNotObserved":
		return "Controller has not observed the latest spec"
	case v.reason == "NoObservedGeneration":
		return "Controller has not observed it yet"
	}
	return ""
}

// override makes the sentence from general the summary, if there is one. The summary of the kind becomes the first
// detail.
func (v kstatusResult) override(o node, h *Health) {
	general := v.generalSummary(o)
	if general == "" {
		return
	}
	if h.Summary != "" {
		h.Details = slices.Insert(h.Details, 0, h.Summary)
	}
	h.Status, h.Summary = v.status, general
}

// limit limits the Health: each sentence to one line of limited length, and the number of details.
func (h *Health) limit() {
	h.Summary = oneLine(h.Summary)
	if more := len(h.Details) - maxDetails; more > 0 {
		h.Details = append(h.Details[:maxDetails-1], fmt.Sprintf("%d more", more+1))
	}
	details := make([]string, len(h.Details))
	for i, detail := range h.Details {
		details[i] = oneLine(detail)
	}
	h.Details = details
}

// capital returns a sentence of this package with a capital letter at the start.
func capital(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToUpper(sentence[:1]) + sentence[1:]
}

func oneLine(text string) string {
	if len(text) > 4*maxText {
		text = text[:4*maxText] // The limit is higher than maxText, because most of the text may be white space.
	}
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if len(text) <= maxText {
		return text
	}
	cut := maxText - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// joinReason returns "reason: message". If one of them is empty, it returns the other.
func joinReason(reason, message string) string {
	switch {
	case reason == "" && message == "":
		return "no reason given"
	case reason == "" || message == "" || reason == message:
		return max(reason, message)
	}
	return reason + ": " + message
}
