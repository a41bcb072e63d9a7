package symptom

import (
	"regexp"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

var (
	// troubleReason matches a problem or a negated word of idleReason, such as NotPaused. It overrides idleReason.
	troubleReason = regexp.MustCompile(`(?i)unexpected|error|fail|crash|panic|timeout|` +
		`not(paused|suspended|stopped|disabled|drained|idle)|(update|report|renewal|heartbeat)s?stopped`)
	// otherReason matches a reason that is about another object.
	otherReason = regexp.MustCompile(`Dependency|Dependencies|Waiting|Pending|NotReady`)
)

// isIdle reports whether the object is idle on purpose (scaled to zero), and the condition is therefore not True.
func (c *condition) isIdle() bool {
	switch {
	case c.is("True") || troubleReason.MatchString(c.reason) || wording.IsBadReason(c.reason):
		return false
	case intent.IsIdleReason(c.reason):
		return true
	}
	return intent.IsIdleText(c.message) && !wording.NamesError(c.message) && !otherReason.MatchString(c.reason)
}

// IsIdle reports whether an object is idle on purpose. It reads only conditions of the complete object, such as Ready.
func IsIdle(o map[string]any) bool {
	return hasIdle(conditionsOf(members(o).child("status"), "", generationOf(o)), "Ready", "Available", "Healthy")
}

// IsPaused reports whether the reconciliation of an object is paused on purpose.
func IsPaused(o map[string]any) bool {
	return hasIdle(conditionsOf(members(o).child("status"), "", generationOf(o)), "Synced", "Reconciled")
}

// AwaitsApproval reports whether an object waits until a person approves the next step.
func AwaitsApproval(o map[string]any) bool {
	conditions := conditionsOf(members(o).child("status"), "", generationOf(o))
	return slices.ContainsFunc(conditions, func(c condition) bool {
		return intent.IsApprovalReason(c.reason) ||
			!c.is("True") && intent.IsApprovalText(c.message) && !wording.NamesError(c.message)
	})
}

// isForced reports whether an error, and no person, has stopped the object. Example: Disabled, with the reason
// TemplateNotFound.
func (c *condition) isForced() bool {
	return (wording.IsIdleName(c.kind) || c.kind == "Disabled") &&
		wording.IsBadReason(c.reason) && wording.NamesError(c.message)
}

// hasIdle reports whether a condition with one of the names describes the object as idle on purpose.
func hasIdle(conditions []condition, names ...string) bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return slices.Contains(names, c.kind) && c.isIdle() })
}
