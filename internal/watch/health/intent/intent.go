// Package intent recognizes what a person wants of an object: it is stopped, paused or switched off. For an object that
// is being deleted, it describes what the deletion waits for. All functions are pure.
package intent

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
	// idleText matches a message which states that an object is idle on purpose.
	idleText = regexp.MustCompile(`(?i)\b(scaled (down )?to (zero|0)|(not receiving|receives no) traffic|` +
		`(is|are|was|were|been|currently|intentionally) (on standby|in standby|(not|no longer) (needed|required)|` +
		`paused|suspended|stopped|disabled|superseded|drained|hibernated|idle|inactive)|on purpose)\b`)
	// approvalReason matches the reason of a condition that waits for the approval of a person.
	approvalReason = regexp.MustCompile(`(?i)^(requires|needs|awaiting|WaitingFor|pending)(manual)?approval$`)
	// approvalText matches a message which states that an object waits for approval.
	approvalText = regexp.MustCompile(`(?i)\bto approve\b|` +
		`\b(waiting for|waits for|awaiting|requires|needs|pending) (manual )?approval\b`)
	// endedReason matches the reason of a run that a person ended. It does not match ContextCanceled, which is an error.
	endedReason = regexp.MustCompile(`(^|Run|Job|Build|Workflow|User)Cancell?ed(By|Run|$)|` +
		`(Aborted|Stopped|Terminated)(By|On|Per)User|User(Aborted|Stopped|Terminated)|` +
		`^Manual(ly)?(Aborted|Cancell?ed|Stopped|Terminated|Abort|Stop|Cancellation|Termination)$`)
	// endedText matches a message which states that a person ended the work of an object, such as "aborted per user
	// request" and "manually stopped". It does not match "terminated by user code", or "user requested cancel of current
	// operation", which is the timeout of a client.
	endedText = regexp.MustCompile(`(?i)\b` + ended + `\b(?: [a-z]+){0,3}? (?:manually\b|` +
		`(?:by|per|on|upon|at) (?:an? |the )?user(?:'s)?(?: request| action)?(?:$| ?[^a-z0-9 -]| (?:via|at|on|from|in)\b))|` +
		`\bmanually ` + ended + `\b|\buser (?:(?:has |have )?(?:aborted|cancell?ed|stopped|terminated)|` +
		`(?:has |have )?requested (?:an? |the )?(?:cancellation|termination))\b`)
	// futureText matches a message about what a person must do or may do. It overrides endedText.
	futureText = regexp.MustCompile(`(?i)\b(must|should|can|cannot|could|to|will|may|needs?|not|never) (be )?` +
		ended + `\b`)
	// pauseKey matches the name of an annotation or a label with which a person stops the controller of an object, such as
	// cluster.x-k8s.io/paused and strimzi.io/pause-reconciliation.
	pauseKey = regexp.MustCompile(`(?i)(^|/)(paused?|(pause|skip|disable|suspend)-?reconcil[a-z]*|` +
		`reconcil[a-z]*-?(paused?|suspended|disabled))$`)
	// unsetText matches a message which states that a setting has no value.
	unsetText = regexp.MustCompile(`(?i)^(?:the )?([a-z][a-z0-9 ._-]*?) (?:is|are) ` +
		`(?:empty|unset|not (?:set|configured|specified|provided|defined))\.?$`)
)

const ended = `(?:abort|aborted|cancel|cancell?ed|cancellation|stopped|terminated|termination|interrupted)`

// IsIdleReason reports whether the reason of a condition states that an object is idle on purpose.
func IsIdleReason(reason string) bool { return idleReason.MatchString(reason) }

// IsIdleText reports whether a message states that an object is idle on purpose.
func IsIdleText(message string) bool { return idleText.MatchString(message) }

// IsApprovalReason reports whether the reason of a condition states that an object waits for the approval of a person.
func IsApprovalReason(reason string) bool { return approvalReason.MatchString(reason) }

// IsApprovalText reports whether a message states that an object waits for the approval of a person.
func IsApprovalText(message string) bool { return approvalText.MatchString(message) }

// maxEndedText limits the part of a message in which IsEndedByPerson searches, in bytes.
const maxEndedText = 4096

// IsEndedByPerson reports whether a person ended the work of an object, according to a reason and a message of its
// status.
func IsEndedByPerson(reason, message string) bool {
	if endedReason.MatchString(reason) {
		return true
	}
	message = message[:min(len(message), maxEndedText)]
	for _, word := range []string{"user", "User", "USER", "manual", "Manual", "MANUAL"} { // The pattern is slow.
		if strings.Contains(message, word) {
			return endedText.MatchString(message) && !futureText.MatchString(message)
		}
	}
	return false
}

// IsPauseKey reports whether a person stops the controller of an object by an annotation or a label with this key.
func IsPauseKey(key string) bool { return pauseKey.MatchString(key) }

// IsOff reports whether a spec states that the object shall do nothing.
func IsOff(spec map[string]any) bool {
	for name, value := range spec {
		text, _ := value.(string)
		switch name {
		case "suspend", "suspended", "pause", "paused", "stop", "stopped", "hibernate", "hibernated":
			if value == true || slices.Contains([]string{"true", "yes"}, strings.ToLower(text)) {
				return true
			}
		case "running", "online", "active":
			if value == false {
				return true
			}
		case "state", "desiredState", "powerState", "runStrategy":
			if slices.Contains([]string{"off", "offline", "stopped", "halted", "paused", "suspended"}, strings.ToLower(text)) {
				return true
			}
		}
	}
	return false
}

// IsPartOff reports whether the definition of a part, such as a component, states that the part is switched off, or
// that the controller shall not manage it.
func IsPartOff(part map[string]any) bool {
	if IsOff(part) || part["enabled"] == false || part["disabled"] == true || part["allowScheduling"] == false {
		return true
	}
	for _, name := range []string{"managementState", "state", "desiredState", "mode", "policy"} {
		text, _ := part[name].(string)
		if slices.Contains([]string{"removed", "unmanaged", "disabled", "off", "absent"}, strings.ToLower(text)) {
			return true
		}
	}
	return false
}

// MayStop reports whether a spec states that the object is not started again after it has stopped without a failure.
// The run strategies below are those of KubeVirt.
func MayStop(spec map[string]any) bool {
	return slices.Contains([]any{"Manual", "Once", "RerunOnFailure"}, spec["runStrategy"])
}

// IsEnd reports whether a spec requests the end of a run.
func IsEnd(spec map[string]any) bool {
	return slices.Contains([]any{"Stop", "Terminate"}, spec["shutdown"]) ||
		spec["cancel"] == true || spec["canceled"] == true || spec["cancelled"] == true || spec["abort"] == true
}

// IsUnset reports whether a message only states that an optional setting is empty. The spec must contain this setting
// with an empty value.
func IsUnset(message string, spec map[string]any) bool {
	found := unsetText.FindStringSubmatch(message)
	if found == nil {
		return false
	}
	setting := strings.NewReplacer(" ", "", ".", "", "_", "", "-", "").Replace(found[1])
	for name, value := range spec {
		if strings.EqualFold(name, setting) && value == "" {
			return true
		}
	}
	return false
}
