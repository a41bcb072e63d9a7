package symptom

import (
	"cmp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// explanations are the members of a status that can explain its state.
var explanations = []string{ //nolint:gochecknoglobals // Constant.
	"message", "reason", "statusMessage", "error", "description", "failure", "phaseReason",
}

// explanation returns the text of the first member whose text the function include accepts, or "". It tries the members
// in the parameter further first, and then those in explanations.
func explanation(status members, include func(string) bool, further ...string) string {
	for _, member := range slices.Concat(further, explanations) {
		if text := status.text(member); text != "" && !wording.IsReferral(text) && include(text) {
			return text
		}
	}
	return ""
}

// stateText returns the text in a status that explains a bad state, or "". It prefers several words to a single word.
func stateText(status members) string {
	isText := func(text string) bool { return strings.Contains(text, " ") }
	isAny := func(string) bool { return true }
	return cmp.Or(explanation(status, isText), errorIn(status), namedError(status), explanation(status, isAny))
}

// Explanation returns the text in the status of an object that explains its phase, or "" if there is none. isBad means
// that the phase is bad. If it is not, Explanation reads only the members message, reason and error.
func Explanation(o map[string]any, isBad bool) string {
	status := members(o).child("status")
	if isBad {
		return stateText(status)
	}
	return cmp.Or(status.text("message"), status.text("reason"), status.text("error"))
}

// stateError returns the text that explains a bad state, or "". The state is in the given member of the status. In this
// order, it takes a sentence of the status itself, the error of the last operation, a sentence in the given member, the
// text of a false condition, or any other text of the status.
func stateError(status members, member string, conditions []condition) string {
	isText := func(text string) bool { return strings.Contains(text, " ") }
	text := stateText(status)
	if isText(text) {
		return text
	}
	return cmp.Or(lastOperationError(status), explanation(status.child(member), isText), falseText(conditions), text)
}

// lastOperationError returns the error of status.lastOperation, or "". While the operation runs again, the errors in
// the status are possibly over.
func lastOperationError(status members) string {
	last := status.child("lastOperation")
	if !wording.IsBadWord(last.text("state")) {
		return ""
	}
	for _, item := range status.children("lastErrors") {
		if text := textOf(item); text != "" {
			return text
		}
	}
	return textOf(last)
}

// falseText returns the text of the first condition that is False because of an error, or "".
func falseText(conditions []condition) string {
	for n := range conditions {
		c := &conditions[n]
		if c.isFalse() && (wording.NamesError(c.message) || c.message != "" && wording.IsBadReason(c.reason)) &&
			!wording.IsReferral(c.message) {
			return c.text()
		}
	}
	return ""
}
