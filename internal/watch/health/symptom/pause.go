package symptom

import (
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

var (
	// dependentReason matches the reason of a condition that depends on another object, such as ClusterQueueIsInactive.
	dependentReason = regexp.MustCompile(`^[A-Z][A-Za-z]+Is(Inactive|Suspended|Stopped|Paused|NotActive)$|^Inadmissible$`)
	// dependentText matches a message about another object, such as "ClusterQueue batch is inactive".
	dependentText = regexp.MustCompile(`^(the )?["'` + "`" + `]?[A-Z][A-Za-z]+ ["'` + "`" + `]?[a-z0-9][a-z0-9./-]*["'` +
		"`" + `]? is (inactive|not active|not ready|suspended|stopped|paused)\b`)
)

// HasPausedController reports whether an object is paused: a person made its controller ignore it. The object then
// keeps its state.
func HasPausedController(o map[string]any) bool {
	metadata := members(o).child("metadata")
	for _, list := range []members{metadata.child("annotations"), metadata.child("labels")} {
		for key, value := range list {
			if value != "false" && intent.IsPauseKey(key) {
				return true
			}
		}
	}
	return IsSuspended(o)
}

// IsEndedByPerson reports whether a person ended the work of an object, such as a run of a pipeline.
func IsEndedByPerson(o map[string]any) bool {
	status := members(o).child("status")
	isEnd := func(c condition) bool {
		return (c.kind == "Succeeded" && !c.is("True") || c.is("True") && c.kind == "Failed") && c.isEndedByPerson()
	}
	return intent.IsEnd(members(o).child("spec")) || intent.IsEndedByPerson(status.text("reason"), stateText(status)) ||
		slices.ContainsFunc(conditionsOf(status, "", generationOf(o)), isEnd)
}

// HasStopped reports whether an object, such as a virtual machine, states that it has stopped or completed.
func HasStopped(o map[string]any) bool {
	status := members(o).child("status")
	isOver := func(member []string) bool {
		switch strings.ToLower(status.text(member...)) {
		case "stopped", "suspended", "paused", "hibernated", "deallocated", "succeeded", "completed":
			return len(member) == 1
		}
		return false
	}
	conditions := conditionsOf(status, "", generationOf(o))
	isBad := func(c condition) bool {
		isError := wording.IsBadReason(c.reason) || wording.NamesError(c.message) && !wording.NamesMissing(c.message)
		return c.isBadTrue() || !c.is("True") && isError
	}
	return slices.ContainsFunc(stateMembers(status), isOver) && !slices.ContainsFunc(conditions, isBad)
}

// WaitsForConsumer reports whether an object provides a volume that is only created when a pod uses it.
func WaitsForConsumer(o map[string]any) bool {
	phase := members(o).text("status", "phase")
	return phase == "WaitForFirstConsumer" || phase == "PendingPopulation"
}

// configured omits conditions that only report that an optional setting of the object is empty. The spec must contain
// this setting with an empty value.
func configured(conditions []condition, spec members) []condition {
	return slices.DeleteFunc(conditions, func(c condition) bool {
		return c.isBadTrue() && intent.IsUnset(c.message, spec)
	})
}

// Dependency returns a condition that is False because of the state of another object; ok is false if there is none.
// Such an object itself has no problem, because the other object can be stopped on purpose.
func Dependency(o map[string]any) (s Symptom, ok bool) {
	kind, name := members(o).text("kind"), members(o).text("metadata", "name")
	conditions := conditionsOf(members(o).child("status"), "", generationOf(o))
	for n := range conditions {
		c := &conditions[n]
		isOther := dependentReason.MatchString(c.reason) && !strings.HasPrefix(c.reason, kind) ||
			dependentText.MatchString(c.message) && !strings.Contains(c.message, kind+" "+name)
		if c.is("False") && !wording.IsBadIfTrue(c.kind) && isOther && !HasPausedController(o) {
			return *symptomOf(c), true
		}
	}
	return Symptom{}, false
}
