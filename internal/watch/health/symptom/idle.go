package symptom

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// idleReason matches the reason of a condition that is not True because the object is idle on purpose.
	idleReason = regexp.MustCompile(`(?i)paused|suspended|stopped|disabled|deactivated|inactive|dormant|sleeping|idle|` +
		`standby|superseded|drained|hibernat|unused|scaled(down)?(to)?zero|zeroscaled|no(traffic|requests)|` +
		`not(needed|required|requested|applicable|used)|nolongerneeded|intentional|onpurpose`)
	// approvalReason matches the reason of a condition that waits for the approval of a person.
	approvalReason = regexp.MustCompile(`(?i)^(requires|needs|awaiting|WaitingFor|pending)(manual)?approval$`)
	// approvalText matches a message which states that an object waits for approval.
	approvalText = regexp.MustCompile(`(?i)\bto approve\b|` +
		`\b(waiting for|waits for|awaiting|requires|needs|pending) (manual )?approval\b`)
	// troubleReason matches a problem or a negated word of idleReason, such as NotPaused. It overrides idleReason.
	troubleReason = regexp.MustCompile(`(?i)unexpected|error|fail|crash|panic|timeout|` +
		`not(paused|suspended|stopped|disabled|drained|idle)`)
	// otherReason matches a reason that is about another object.
	otherReason = regexp.MustCompile(`Dependency|Dependencies|Waiting|Pending|NotReady`)
	// idleText matches a message which states that an object is idle on purpose.
	idleText = regexp.MustCompile(`(?i)\b(scaled (down )?to (zero|0)|(not receiving|receives no) traffic|` +
		`(is|are|was|were|been|currently|intentionally) (on standby|in standby|(not|no longer) (needed|required)|` +
		`paused|suspended|stopped|disabled|superseded|drained|hibernated|idle|inactive)|on purpose)\b`)
)

// isIdle reports whether the object is idle on purpose (scaled to zero), and the condition is therefore not True.
func (c *condition) isIdle() bool {
	switch {
	case c.is("True") || troubleReason.MatchString(c.reason) || badReason.MatchString(c.reason):
		return false
	case idleReason.MatchString(c.reason):
		return true
	}
	return idleText.MatchString(c.message) && !NamesError(c.message) && !otherReason.MatchString(c.reason)
}

// IsIdle reports whether an object is idle on purpose. It reads only conditions about the whole object, such as Ready.
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
		return approvalReason.MatchString(c.reason) ||
			!c.is("True") && approvalText.MatchString(c.message) && !NamesError(c.message)
	})
}

// isIdleName reports whether a condition with a name, such as Paused or cnpg.io/hibernation, means that the object is
// idle on purpose if the condition is True.
func isIdleName(name string) bool {
	words := split(name[strings.LastIndexAny(name, "./")+1:])
	if len(words) == 2 && (words[0] == "reconciliation" || words[0] == "reconcile") {
		words = words[1:] // For example, ReconciliationPaused means the same as Paused.
	}
	return len(words) == 1 && slices.Contains([]string{
		"paused", "suspended", "hibernation", "hibernated", "hibernating", "stopped", "sleeping", "dormant",
	}, words[0])
}

// hasIdle reports whether a condition with one of the names describes the object as idle on purpose.
func hasIdle(conditions []condition, names ...string) bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return slices.Contains(names, c.kind) && c.isIdle() })
}
