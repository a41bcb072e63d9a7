// Package health says of an object whether it is well, and why, in sentences
// that a person understands.
//
// What its status says is judged by kstatus (github.com/fluxcd/cli-utils), the
// rules of kubectl apply --prune and of Flux: generic ones for any kind, and
// some for the built-in ones. On top of it are the reasons, of the kinds that
// people look at, in their own words; there the verdict is made stricter where
// kstatus asks whether the object was reconciled and a person asks whether it
// works: a Pod that has failed is reconciled.
//
// Everything is pure: the same text gives the same Health, whatever the time.
// Any text gives one; none takes longer than a few walks of it, and no Health is
// longer than its bounds.
package health

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Status is the verdict on an object, in kstatus' words.
type Status string

// The statuses.
const (
	Current     Status = "Current"     // It is what it should be, as far as it tells.
	InProgress  Status = "InProgress"  // It is on the way there.
	Failed      Status = "Failed"      // It is not, and something must happen.
	Terminating Status = "Terminating" // It is being deleted.
	Unknown     Status = "Unknown"     // It does not tell.
)

const (
	maxDetails = 20
	maxText    = 1000 // Bytes of a sentence.
)

// Health is whether an object is well, and why. Sentences begin in lower case
// and have no full stop; parts of them are the cluster's own words.
type Health struct {
	Status  Status   `json:"status"`
	Summary string   `json:"summary"` // One sentence.
	Details []string `json:"details"` // What else there is to say, the worst first; never nil.
}

// Of is the Health of an object, given as its JSON text.
func Of(text []byte) Health {
	o, err := read(text)
	if err != nil {
		return Health{Status: Unknown, Summary: "its text cannot be read", Details: []string{}}
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

// verdict is what kstatus says.
type verdict struct {
	status          Status
	reason, message string
}

// judge asks kstatus, which does not expect that a member has another type than
// the API server would give it.
func judge(o node) (v verdict) {
	defer func() {
		if recover() != nil {
			v = verdict{Unknown, "", "its members are not what they should be"}
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

// told is the verdict in words, for kinds that have none of their own.
func (v verdict) told(o node) Health {
	h := Health{Status: v.status}
	ready := o.condition("Ready")
	switch {
	case v.general(o) != "":
	case v.status == Unknown:
		h.Summary = "its status cannot be read: " + v.message
	case v.status == Failed:
		h.Summary = "stalled: " + join(v.reason, v.message)
	case v.status == InProgress && o.condition("Reconciling").is("True"):
		h.Summary = "reconciling: " + join(v.reason, v.message)
	case v.status == InProgress:
		h.Summary = "not ready: " + join(v.reason, v.message)
	case ready.is("True"):
		h.Summary = "ready"
		if ready.message != "" {
			h.Details = []string{ready.message}
		}
	default:
		h.Summary = "exists; it tells nothing more of its health"
	}
	return h
}

// general is the verdict in words where it comes before all that a kind has to
// say for itself.
func (v verdict) general(o node) string {
	waits := o.texts("metadata", "finalizers")
	switch {
	case v.status == Terminating && len(waits) > 0:
		return "being deleted; waits for " + strings.Join(waits, ", ")
	case v.status == Terminating:
		return "being deleted"
	case v.reason == "LatestGenerationNotObserved":
		return "its controller has not seen the newest spec yet"
	case v.reason == "NoObservedGeneration":
		return "its controller has not seen it yet"
	}
	return ""
}

// overrule puts the general before what the kind says.
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

// bound makes each sentence one line of bounded length, and the details few.
func (h *Health) bound() {
	h.Summary = line(h.Summary)
	if more := len(h.Details) - maxDetails; more > 0 {
		h.Details = append(h.Details[:maxDetails-1], fmt.Sprintf("and %d more", more+1))
	}
	details := make([]string, len(h.Details))
	for i, detail := range h.Details {
		details[i] = line(detail)
	}
	h.Details = details
}

func line(text string) string {
	if len(text) > 4*maxText {
		text = text[:4*maxText] // Space may be most of it.
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

// join is "reason: message", as far as there are any.
func join(reason, message string) string {
	switch {
	case reason == "" && message == "":
		return "no reason is given"
	case reason == "" || message == "" || reason == message:
		return max(reason, message)
	}
	return reason + ": " + message
}
