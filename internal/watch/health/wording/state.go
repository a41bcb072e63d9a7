package wording

import (
	"slices"
	"strings"
)

// IsWaitingWord reports whether a word states that an object is not in order yet, but possibly will be.
func IsWaitingWord(word string) bool {
	switch strings.ToLower(word) {
	case "pending", "processing", "waiting", "creating", "provisioning", "initializing", "progressing", "starting",
		"inprogress", "reconciling", "retrying", "deploying", "installing", "new", "queued":
		return true
	}
	return false
}

// IsGoodWord reports whether a word states that an object, and not only a part of it, is in order or has ended well.
func IsGoodWord(word string) bool {
	switch strings.ToLower(word) {
	case "succeeded", "success", "completed", "complete", "ready", "healthy", "available", "bound", "deployed", "running",
		"active", "established", "synced", "ok", "online", "up", "valid", "installed", "provisioned":
		return true
	}
	return false
}

// maxWord is the maximum length of a word that describes a state.
const maxWord = 40

// partsOf returns the parts of a word such as SubmissionFailed or CREATE_FAILED in lower case. It returns nil for a
// text with spaces or of more than maxWord bytes, because such a text does not name a state.
func partsOf(word string) []string {
	if len(word) > maxWord || strings.Contains(word, " ") {
		return nil
	}
	if strings.ToUpper(word) == word || strings.ContainsAny(word, "_-") {
		return strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return r == '_' || r == '-' })
	}
	return Split(word)
}

// IsFailure reports whether a word means a complete failure of an action or a check, and not only a partial failure.
func IsFailure(word string) bool {
	parts := partsOf(word)
	has := func(words ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(words, part) })
	}
	return IsBadWord(word) && !has("partial", "partially", "partly", "some") &&
		has("failed", "failure", "error", "errored", "err", "invalid", "rejected", "crashed")
}

// IsBadWord reports whether a word names a failure or a bad state.
func IsBadWord(word string) bool {
	parts := partsOf(word)
	if len(parts) == 2 && parts[0] == "not" {
		return slices.Contains([]string{"ready", "healthy", "available", "found"}, parts[1])
	}
	switch strings.Join(parts, " ") {
	case "no quorum", "split brain", "timed out":
		return true
	}
	// FailedOver is a good state: the replica works in place of another one. IdleTimeout is not a failure.
	isGood := func(part string) bool { return part == "over" || part == "idle" || slices.Contains(negations, part) }
	return !slices.ContainsFunc(parts, isGood) &&
		slices.ContainsFunc(parts, func(part string) bool {
			return slices.Contains([]string{
				"failed", "failure", "error", "errored", "degraded", "unhealthy", "faulted", "crashed", "unavailable",
				"unreachable", "invalid", "rejected", "red", "unschedulable", "broken", "lost", "abnormal", "incompatible",
				"aborted", "err", "critical", "offline", "stalled", "stuck", "corrupt", "corrupted", "misconfigured",
				"inconsistent", "timeout",
			}, part)
		})
}
