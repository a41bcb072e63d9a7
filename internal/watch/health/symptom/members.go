package symptom

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// badPhase finds a word for a failure in the members that summarize a status, such as phase and health.
func badPhase(status members, conditions []condition, isOK bool) *Symptom {
	isReady := slices.ContainsFunc(conditions, func(c condition) bool {
		return c.is("True") && slices.Contains([]string{"Ready", "Available", "Healthy", "Succeeded"}, c.kind)
	})
	for _, member := range []string{"phase", "state", "status", "health", "healthStatus", "robustness"} {
		word := status.text(member)
		isBad := slices.ContainsFunc(split(word), func(part string) bool {
			return slices.Contains([]string{
				"failed", "failure", "error", "errored", "degraded", "unhealthy", "faulted", "crashed", "unavailable",
				"unreachable", "invalid", "rejected", "red",
			}, part)
		})
		if !isBad || isReady || isOK && (member == "phase" || member == "state" || member == "status") {
			continue
		}
		s := &Symptom{Reason: word, Sentence: member + " " + word}
		for _, member := range []string{"message", "reason", "statusMessage", "error"} {
			if text := status.text(member); text != "" {
				s.Sentence = word + ": " + text
				return s
			}
		}
		if text := errorIn(status); text != "" {
			s.Sentence = word + ": " + text
		}
		return s
	}
	return nil
}

// errorMember finds the text of an error in the status of an object that is not in order.
func errorMember(status members, _ []condition, isOK bool) *Symptom {
	if isOK {
		return nil
	}
	text := errorIn(status)
	if text == "" || noErrorText.MatchString(text) {
		return nil
	}
	return &Symptom{Reason: cmp.Or(status.text("failureReason"), status.text("errorReason"), "Error"), Sentence: text}
}

// errorIn returns the text of an error in a status, or "". A past error does not count.
func errorIn(status members) string {
	last := cmp.Or(status.text("lastError"), status.text("lastError", "message"), status.text("lastError", "description"))
	if isPast(status) {
		last = ""
	}
	return cmp.Or(
		status.text("error"), status.text("error", "message"), status.text("failureMessage"), status.text("errorMessage"),
		last, listedError(status), status.text("failureReason"), status.text("errorReason"),
	)
}

// isPast reports whether the status has a later time than that of the last error. For example, lastSyncTime is after
// lastErrorTime.
func isPast(status members) bool {
	failed, _ := time.Parse(time.RFC3339, cmp.Or(
		status.text("lastErrorTime"), status.text("lastFailureTime"), status.text("lastError", "time"),
	))
	if failed.IsZero() {
		return false
	}
	for name := range status {
		isOther := strings.HasPrefix(name, "last") && !strings.Contains(name, "Error") && !strings.Contains(name, "Fail")
		if at, err := time.Parse(time.RFC3339, status.text(name)); isOther && err == nil && at.After(failed) {
			return true
		}
	}
	return false
}

// waiting finds an error in the explanation of an object that waits.
func waiting(status members, _ []condition, isOK bool) *Symptom {
	phase := cmp.Or(status.text("phase"), status.text("state"))
	switch strings.ToLower(phase) {
	case "pending", "processing", "waiting", "creating", "provisioning", "initializing", "progressing", "starting",
		"inprogress", "reconciling", "retrying", "deploying", "installing":
	default:
		return nil
	}
	for _, member := range []string{"message", "reason", "statusMessage", "phaseReason", "stateMessage"} {
		if text := status.text(member); !isOK && NamesError(text) {
			return &Symptom{Reason: phase, Sentence: phase + ": " + text, IsWaiting: true}
		}
	}
	return nil
}
