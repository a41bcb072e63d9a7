package wording

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// badWords are the last words of names of conditions that are bad if they are True, such as ResolutionFailed.
var badWords = []string{ //nolint:gochecknoglobals // Constant.
	"failed", "failure", "failing", "error", "errors", "errored", "stalled", "degraded", "dangling", "unsupported",
	"conflict", "conflicted", "unhealthy", "invalid", "deadlock", "deadlocked", "stuck", "unreachable", "unresponsive",
	"misconfigured", "incompatible", "corrupted", "corrupt", "crashed", "crashing", "broken", "faulted", "mismatched",
	"unavailable", "unresolved", "readonly", "lost", "unschedulable", "terminal", "expired", "rejected", "infeasible",
	"exhausted", "inconsistent", "violated", "irreconcilable",
}

// badStarts are the beginnings of names of conditions that are bad if they are True, such as ErrorOccurred and
// MissingPeerConfigs.
var badStarts = []string{ //nolint:gochecknoglobals // Constant.
	"Failed", "Invalid", "Corrupt", "Readonly", "ReadOnly", "Unresolved", "ErrorOccurred", "NotReady", "NotHealthy",
	"NotAvailable", "Missing", "Conflicting",
}

// neededWords follow "No" in the names of conditions that are bad if they are True, such as NoMatchingInstance.
var neededWords = []string{ //nolint:gochecknoglobals // Constant.
	"matching", "available", "valid", "ready", "healthy", "suitable", "compatible", "endpoints", "backends",
}

var (
	// badReason matches the reason of a condition that is False because of an error.
	badReason = regexp.MustCompile(`(Failed|Failure|Failing|Errors?|NotFound|NotExist|Invalid|Rejected|Unauthorized|` +
		`Forbidden|Conflict|Conflicted|Unreachable|TimedOut|Timeout|Misconfigured|Unsupported|(Deadline|Limit)Exceeded)$|` +
		`^(Failed|Invalid|Error|Unresolved|Unsupported)[A-Z]`)
	failedReason = regexp.MustCompile(`(Failed|Failure|Failing|Error|DeadlineExceeded)$`)
	// absentReason matches the reason of a condition that is False because an object does not exist.
	absentReason = regexp.MustCompile(`(NotFound|NotExist|Missing|UnresolvedReference)$`)
	// calmReason matches the reason of a condition that is False as expected, such as PodCompleted.
	calmReason = regexp.MustCompile(`Completed|Skipped|Deleting|Terminating`)
)

// IsBadIfTrue reports whether the name of a condition means a bad state, so that True is bad. The name can have a
// prefix, as in "ACK.Terminal" and "example.com/Stalled".
func IsBadIfTrue(name string) bool {
	name = name[strings.LastIndexAny(name, "./")+1:]
	words := Split(name)
	if len(words) > 1 && words[0] == "no" && slices.Contains(neededWords, words[1]) {
		return true
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return slices.Contains(negations, word) }) {
		return false
	}
	isNegated := words[0] == "not"
	for _, start := range badStarts {
		if rest, ok := strings.CutPrefix(name, start); ok && (rest == "" || unicode.IsUpper(rune(rest[0]))) {
			return true
		}
	}
	last := words[len(words)-1]
	return slices.Contains(badWords, last) && !isNegated ||
		last == "exceeded" && slices.Contains([]string{"deadline", "quota", "limit", "retries"}, words[max(0, len(words)-2)])
}

// IsNodeProblem reports whether a condition of a Node is bad if it is True (DiskPressure). It also recognizes the
// conditions of the node problem detector.
func IsNodeProblem(name string) bool {
	words := Split(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	return IsBadIfTrue(name) || last == "problem" || last == "pressure" || name == "NetworkUnavailable" ||
		words[0] == "frequent"
}

// IsSummary reports whether a condition type describes the object itself, as Ready does, and not only a part of it.
func IsSummary(kind string) bool {
	words := Split(kind[strings.LastIndexAny(kind, "./")+1:])
	switch {
	case kind == "ResolvedRefs":
		return true
	case len(words) == 0:
		return false
	case len(words) == 1 && slices.Contains([]string{"available", "ready", "succeeded"}, words[0]):
		return true
	}
	return slices.Contains([]string{
		"healthy", "accepted", "programmed", "valid", "reconciled", "synced", "synchronized", "resolved",
	}, words[len(words)-1])
}

// IsAchievement reports whether a condition type names a step that a controller completes, such as DatabaseProvisioned.
func IsAchievement(kind string) bool {
	words := Split(kind[strings.LastIndexAny(kind, "./")+1:])
	return len(words) > 0 && slices.Contains([]string{
		"ready", "active", "provisioned", "configured", "installed", "deployed", "created", "bound", "connected",
		"established", "initialized", "registered", "applied", "published", "scheduled", "issued", "authenticated",
		"reachable", "running", "verified", "attached", "mounted", "launched", "success", "successful", "formed", "joined",
		"satisfied", "authorized",
	}, words[len(words)-1])
}

// isOutcome reports whether a condition describes how the last run of a task ended, such as LastBackupSucceeded. The
// object itself can work although the task failed.
func isOutcome(kind string) bool {
	words := Split(kind[strings.LastIndexAny(kind, "./")+1:])
	return len(words) > 1 && slices.Contains([]string{"succeeded", "successful", "success"}, words[len(words)-1])
}

// isOptional reports whether an object works even while the condition is False, as for Upgradeable and TestSucceeded.
func isOptional(kind string) bool {
	return slices.Contains(Split(kind), "test") || strings.HasPrefix(kind, "Test") || strings.HasSuffix(kind, "able")
}

// IsIdleName reports whether a condition with a name, such as Paused or cnpg.io/hibernation, means that the object is
// idle on purpose if the condition is True.
func IsIdleName(name string) bool {
	words := Split(name[strings.LastIndexAny(name, "./")+1:])
	if len(words) == 2 && (words[0] == "reconciliation" || words[0] == "reconcile") {
		words = words[1:] // For example, ReconciliationPaused means the same as Paused.
	}
	return len(words) == 1 && slices.Contains([]string{
		"paused", "suspended", "hibernation", "hibernated", "hibernating", "stopped", "sleeping", "dormant",
	}, words[0])
}

// IsBadReason reports whether the reason of a condition that is False names an error, such as SyncFailed and NotFound.
func IsBadReason(reason string) bool { return badReason.MatchString(reason) }

// IsFailedReason reports whether the reason of a condition states that something has failed, as BackupFailed does.
func IsFailedReason(reason string) bool { return failedReason.MatchString(reason) }

// IsCalmReason reports whether the reason of a condition states that the condition is False as expected.
func IsCalmReason(reason string) bool { return calmReason.MatchString(reason) }

// ContradictsReady reports whether a condition that is False is a problem although another condition states that the
// object is ready.
func ContradictsReady(kind, reason, message string) bool {
	hasFailed, isError := IsFailedReason(reason), NamesError(message)
	return !isOptional(kind) && (hasFailed && isError || isOutcome(kind) && (hasFailed || isError) ||
		IsSummary(kind) && absentReason.MatchString(reason) && NamesMissing(message))
}
