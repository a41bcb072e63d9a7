package symptom

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// badPhase finds a word for a failure in the members that summarize a status, such as phase and health.
func badPhase(status members, conditions []condition, isOK bool) *Symptom {
	isReady := slices.ContainsFunc(conditions, func(c condition) bool {
		return c.is("True") && slices.Contains([]string{"Ready", "Available", "Healthy", "Succeeded"}, c.kind)
	})
	for _, member := range stateMembers(status) {
		word := status.text(member...)
		if !isBadWord(word) || isReady || isOK && isPhase(member[len(member)-1]) {
			continue
		}
		name := member[0]
		s := &Symptom{Reason: word, Sentence: name + " " + word}
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

// isPhase reports whether a member summarizes the progress of an object, and not whether it works.
func isPhase(member string) bool {
	return !slices.Contains([]string{"health", "healthStatus", "robustness"}, member)
}

// stateMembers returns the paths of the members that summarize a status, the most general first. Such a member is at
// the top of the status, as lifecycleState, or in one of its members, as applicationState.state.
func stateMembers(status members) (paths [][]string) {
	for _, member := range []string{"phase", "state", "status", "health", "healthStatus", "robustness"} {
		paths = append(paths, []string{member})
	}
	for _, name := range slices.Sorted(maps.Keys(status)) {
		switch value := status[name].(type) {
		case string:
			if isState(name) {
				paths = append(paths, []string{name})
			}
		case map[string]any:
			if !isState(name) && name != "state" && name != "status" {
				continue
			}
			for _, member := range []string{"phase", "state", "status", "lastObservedState"} {
				if _, ok := value[member].(string); ok {
					paths = append(paths, []string{name, member})
				}
			}
		}
	}
	return paths
}

// isState reports whether the name of a member ends as jobState, lifecyclePhase or deploymentStatus do.
func isState(name string) bool {
	words := split(name)
	return len(words) > 1 && (!isHistory(name) || slices.Contains(words, "observed")) &&
		slices.Contains([]string{"phase", "state", "status", "health"}, words[len(words)-1])
}

// isBadWord reports whether a word such as SubmissionFailed or CREATE_FAILED names a failure. A text is not a word.
func isBadWord(word string) bool {
	if len(word) > 40 || strings.Contains(word, " ") {
		return false
	}
	parts := split(word)
	if strings.ToUpper(word) == word || strings.ContainsAny(word, "_-") {
		parts = strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return r == '_' || r == '-' })
	}
	if len(parts) == 2 && parts[0] == "not" {
		return slices.Contains([]string{"ready", "healthy", "available", "found"}, parts[1])
	}
	return !slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(negations, part) }) &&
		slices.ContainsFunc(parts, func(part string) bool {
			return slices.Contains([]string{
				"failed", "failure", "error", "errored", "degraded", "unhealthy", "faulted", "crashed", "unavailable",
				"unreachable", "invalid", "rejected", "red", "unschedulable", "broken", "lost", "abnormal", "incompatible",
				"aborted",
			}, part)
		})
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
	return messageIn(cmp.Or(
		status.text("error"), status.text("error", "message"), status.text("failureMessage"), status.text("errorMessage"),
		last, listedError(status), status.text("failureReason"), status.text("errorReason"),
	))
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

// refused finds a member that is false, such as applied, with a text that names an error.
func refused(status members, _ []condition, isOK bool) *Symptom {
	if isOK {
		return nil
	}
	for _, member := range []string{"ready", "valid", "healthy", "applied", "accepted", "synced", "available"} {
		if status[member] != false {
			continue
		}
		for _, explanation := range []string{"message", "reason", "statusMessage"} {
			if text := status.text(explanation); NamesError(text) {
				return &Symptom{Reason: "Not" + strings.ToUpper(member[:1]) + member[1:], Sentence: text}
			}
		}
	}
	return nil
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
