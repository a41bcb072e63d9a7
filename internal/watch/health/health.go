// Package health computes whether an object is healthy, and the reasons, as sentences for people.
//
// The status is the result of kstatus (github.com/fluxcd/cli-utils), which kubectl apply --prune and Flux use. kstatus
// has generic rules for every kind, and special rules for some built-in kinds. For the most used kinds, this package
// has its own rules, which add reasons. Some of them are stricter: kstatus checks whether an object was reconciled, but
// a person wants to know whether it works. A failed Pod, for example, is reconciled.
//
// All functions are pure: the same text gives the same Health at any time. There is a Health for every text. No call
// takes longer than a few passes over the text, and the size of each Health is bounded.
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

// The statuses.
const (
	Current     Status = "Current"     // The object is in the desired state, as far as its status shows.
	InProgress  Status = "InProgress"  // The object is on the way to the desired state.
	Failed      Status = "Failed"      // The object is not in the desired state, and somebody must act.
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
	Summary string   `json:"summary"` // One or two sentences; empty if the status Current says it all.
	Details []string `json:"details"` // Further sentences, the worst first; never nil.
}

// Of returns the Health of an object, given as its JSON text. Text that cannot be read has the status Unknown.
func Of(text []byte) Health {
	o, err := read(text)
	if err != nil {
		return Health{Status: Unknown, Summary: "The object cannot be read", Details: []string{}}
	}
	verdict := judge(o)
	h := verdict.told(o)
	if explain := explainer(o); explain != nil {
		h = explain(o, verdict.status)
	}
	verdict.overrule(o, &h)
	h.bound()
	return h
}

// verdict is the result of kstatus for one object.
type verdict struct {
	status          Status
	reason, message string
}

// judge runs kstatus for an object. kstatus panics if a member has another type than the API server would send; the
// result is then Unknown.
func judge(o node) (v verdict) {
	defer func() {
		if recover() != nil {
			v = verdict{Unknown, "", "its fields have unexpected types"}
		}
	}()
	result, err := status.Compute(&unstructured.Unstructured{Object: o})
	if err != nil {
		return verdict{Unknown, "", err.Error()}
	}
	v = verdict{status: Status(result.Status), message: result.Message}
	if len(result.Conditions) > 0 {
		v.reason = result.Conditions[0].Reason
	}
	return v
}

// told returns the verdict of kstatus as a Health. It is used for kinds without rules in this package.
func (v verdict) told(o node) Health {
	h := Health{Status: v.status}
	ready := o.condition("Ready")
	switch {
	case v.general(o) != "":
	case v.status == Unknown:
		h.Summary = "The status cannot be read: " + v.message
	case v.status == Failed:
		h.Summary = "Stalled: " + join(v.reason, v.message)
	case v.status == InProgress && o.condition("Reconciling").is("True"):
		h.Summary = "Reconciling: " + join(v.reason, v.message)
	case v.status == InProgress:
		h.Summary = "Not ready: " + join(v.reason, v.message)
	case ready.is("True"):
		h.Summary = "Ready"
		if ready.message != "" {
			h.Details = []string{ready.message}
		}
	}
	return h
}

// general returns a sentence if the verdict takes precedence over the rules of a kind: the object is being deleted, or
// its controller has not seen it yet. For any other verdict, it returns "".
func (v verdict) general(o node) string {
	waits := o.texts("metadata", "finalizers")
	switch {
	case v.status == Terminating && len(waits) == 1:
		return "Being deleted; waiting for finalizer " + waits[0]
	case v.status == Terminating && len(waits) > 1:
		return "Being deleted; waiting for finalizers " + strings.Join(waits, ", ")
	case v.status == Terminating:
		return "Being deleted"
	case v.reason == "LatestGenerationNotObserved":
		return "Controller has not observed the latest spec"
	case v.reason == "NoObservedGeneration":
		return "Controller has not observed it yet"
	}
	return ""
}

// overrule makes the sentence from general the summary, if there is one. The summary of the kind becomes the first
// detail.
func (v verdict) overrule(o node, h *Health) {
	general := v.general(o)
	if general == "" {
		return
	}
	if h.Summary != "" {
		h.Details = slices.Insert(h.Details, 0, h.Summary)
	}
	h.Status, h.Summary = v.status, general
}

// bound limits the Health: each sentence to one line of limited length, and the number of details.
func (h *Health) bound() {
	h.Summary = line(h.Summary)
	if more := len(h.Details) - maxDetails; more > 0 {
		h.Details = append(h.Details[:maxDetails-1], fmt.Sprintf("%d more", more+1))
	}
	details := make([]string, len(h.Details))
	for i, detail := range h.Details {
		details[i] = line(detail)
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

func line(text string) string {
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

// join returns "reason: message". If one of them is empty, it returns the other.
func join(reason, message string) string {
	switch {
	case reason == "" && message == "":
		return "no reason given"
	case reason == "" || message == "" || reason == message:
		return max(reason, message)
	}
	return reason + ": " + message
}
