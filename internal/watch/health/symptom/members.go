package symptom

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// badPhase finds a failure in the members that summarize a status, such as phase and health: a word for a failure, a
// sentence that names an error, or the word "warning" if another member names an error. It ignores a failure if a
// person ended the work.
func badPhase(status members, conditions []condition, isOK bool) *Symptom {
	isReady := slices.ContainsFunc(conditions, func(c condition) bool {
		return c.is("True") && slices.Contains([]string{"Ready", "Available", "Healthy", "Succeeded"}, c.kind)
	})
	for _, member := range stateMembers(status) {
		word := status.text(member...)
		isWarning := strings.EqualFold(word, "warning") && explanation(status, wording.NamesError) != ""
		isBad := wording.IsBadWord(word) || isWarning || wording.IsBadSentence(word)
		if !isBad || isReady || isOK && isPhase(member[len(member)-1]) ||
			intent.IsEndedByPerson("", stateError(status, member[0], conditions)) {
			continue
		}
		isTotal := slices.Contains([]string{"phase", "state", "status"}, member[0]) && len(member) == 1 &&
			wording.IsFailure(word)
		s := &Symptom{Reason: word, IsTotal: isTotal, Since: status.child(member[0]).time("lastUpdateTime")}
		if wording.IsBadSentence(word) {
			s.Reason = "Error"
		}
		s.Sentence = "status." + strings.Join(member, ".") + ": " + word + otherStates(status, member[0])
		if text := stateError(status, member[0], conditions); text != "" {
			s.Sentence = word + ": " + text
		}
		return s
	}
	return nil
}

// otherStates lists the members of a status that contain a word for waiting, such as Pending. It omits the member with
// the name in except. The list can explain a bad state that has no message.
func otherStates(status members, except string) (text string) {
	for _, member := range stateMembers(status) {
		word := status.text(member...)
		if len(member) == 1 && member[0] != except && wording.IsWaitingWord(word) {
			text += ", status." + member[0] + ": " + word
		}
	}
	return text
}

// isPhase reports whether a member summarizes the progress of an object. Such a member does not state whether the
// object works.
func isPhase(member string) bool {
	return !slices.Contains([]string{"health", "healthStatus", "robustness"}, member)
}

// subjects are members of a status that describe the object as such, and not one of several parts.
var subjects = []string{ //nolint:gochecknoglobals // Constant.
	"state", "status", "health", "cluster", "database", "instance", "server", "lastOperation",
}

// stateMembers returns the paths of the members that summarize a status, the most general first. Such a member is at
// the top of the status (lifecycleState), or one level deeper (applicationState.state, cluster.status).
func stateMembers(status members) (paths [][]string) {
	for _, member := range []string{"phase", "state", "status", "health", "healthStatus", "robustness"} {
		paths = append(paths, []string{member})
	}
	for _, name := range slices.Sorted(maps.Keys(status)) {
		switch value := status[name].(type) {
		case string:
			if wording.IsState(name) {
				paths = append(paths, []string{name})
			}
		case map[string]any:
			if !wording.IsState(name) && !slices.Contains(subjects, name) {
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

// errorMember finds the text of an error in the status of an object, unless the object is OK.
func errorMember(status members, _ []condition, isOK bool) *Symptom {
	if isOK {
		return nil
	}
	text := errorIn(status)
	if text == "" || wording.NamesNoError(text) {
		return nil
	}
	return &Symptom{Reason: cmp.Or(status.text("failureReason"), status.text("errorReason"), "Error"), Sentence: text}
}

// OwnError returns a sentence about a bad state or an error in the status of an object, or "". It reads no conditions.
func OwnError(o map[string]any) string {
	status := members(o).child("status")
	if s := cmp.Or(badPhase(status, nil, false), errorMember(status, nil, false)); s != nil {
		return s.Sentence
	}
	return ""
}

// errorIn returns the text of an error in a status, or "". An error that was resolved does not count.
func errorIn(status members) string {
	last := cmp.Or(status.text("lastError"), status.text("lastError", "message"), status.text("lastError", "description"))
	if isOver(status) {
		last = ""
	}
	return messageIn(cmp.Or(
		status.text("error"), status.text("error", "message"), status.text("failureMessage"), status.text("errorMessage"),
		status.text("errorDescription"), status.text("errorDetails"), last, listedError(status),
		status.text("failureReason"), status.text("errorReason"),
	))
}

// namedError returns the text of a member whose name ends like lastSyncError or validationErrorMessage, or "". Call it
// only for the status of an object that is not OK.
func namedError(status members) string {
	for _, name := range slices.Sorted(maps.Keys(status)) {
		words := wording.Split(name)
		if n := len(words) - 1; n > 0 && slices.Contains([]string{"message", "reason", "text", "details"}, words[n]) {
			words = words[:n]
		}
		isLast := words != nil && words[0] == "last"
		isError := words != nil && slices.Contains([]string{"error", "failure"}, words[len(words)-1])
		if !isError || wording.IsHistory(strings.TrimPrefix(name, "last")) || isLast && isOver(status) {
			continue
		}
		text := messageIn(cmp.Or(status.text(name), textOf(status.child(name))))
		if strings.Contains(text, " ") && !wording.NamesNoError(text) { // One word can be "none" or a time: no error.
			return text
		}
	}
	return ""
}

// isOver reports whether the last error of a status is over, because the status has a later time. For example,
// lastSyncTime is after lastErrorTime.
func isOver(status members) bool {
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

// noText matches a message which possibly states that there is no error.
var noText = regexp.MustCompile(`(?i)\b(no|0|zero|none|never|without|recovered|succeeded|successfully)\b`)

// flags are members of a status that are true if the object is in order.
var flags = []string{ //nolint:gochecknoglobals // Constant.
	"ready", "valid", "healthy", "applied", "accepted", "synced", "available", "succeeded", "success", "connected",
	"reachable", "reconciled", "installed", "deployed", "created", "bound", "active", "registered", "configured",
}

// refused finds a false flag (like "applied") with a text about an error. For "healthy" and "valid", false is enough.
func refused(status members, _ []condition, isOK bool) *Symptom {
	if isOK {
		return nil
	}
	for _, member := range flags {
		if status[member] != false {
			continue
		}
		reason := "Not" + strings.ToUpper(member[:1]) + member[1:]
		if text := explanation(status, wording.NamesError, member+"Message", member+"Reason"); text != "" {
			return &Symptom{Reason: reason, Sentence: text}
		}
		if member == "healthy" || member == "valid" {
			return &Symptom{Reason: reason, Sentence: "status." + member + " is false"}
		}
	}
	return nil
}

// badFlag finds a member that is true, and whose name means a bad state, such as NoMatchingInstances. It ignores
// names such as readOnly and expired, which can also describe a state that a person wants.
func badFlag(status members, _ []condition, isOK bool) *Symptom {
	for _, name := range slices.Sorted(maps.Keys(status)) {
		if isOK || name == "" || status[name] != true || strings.HasPrefix(name, "last") || strings.HasPrefix(name, "prev") {
			continue
		}
		kind := strings.ToUpper(name[:1]) + name[1:]
		isFailed := wording.IsBadWord(kind) && kind != "Unschedulable"
		if wording.IsBadIfTrue(kind) && (isFailed || strings.HasPrefix(kind, "No") || strings.HasSuffix(kind, "Errors")) {
			text := explanation(status, func(string) bool { return true })
			return &Symptom{Reason: kind, Sentence: cmp.Or(text, "status."+name+" is true")}
		}
	}
	return nil
}

// onlyMessage finds a text that names an error in a status without any state.
func onlyMessage(status members, conditions []condition, isOK bool) *Symptom {
	hasText := func(member []string) bool { return status.text(member...) != "" }
	hasState := slices.ContainsFunc(stateMembers(status), hasText)
	isTrue := func(member string) bool { return status[member] == true }
	if isOK || hasState || len(conditions) > 0 || slices.ContainsFunc(flags, isTrue) {
		return nil
	}
	for _, member := range []string{"message", "statusMessage"} {
		if text := status.text(member); wording.NamesError(text) && !noText.MatchString(text) {
			return &Symptom{Reason: "Error", Sentence: text}
		}
	}
	return nil
}

// waiting finds an error in the explanation of an object that waits.
func waiting(status members, _ []condition, isOK bool) *Symptom {
	phase := cmp.Or(status.text("phase"), status.text("state"))
	if !wording.IsWaitingWord(phase) {
		return nil
	}
	for _, member := range []string{"message", "reason", "statusMessage", "phaseReason", "stateMessage"} {
		text := status.text(member)
		if isError := wording.NamesError(text) || member == "reason" && wording.IsBadReason(text); !isOK && isError {
			return &Symptom{Reason: phase, Sentence: phase + ": " + text, IsWaiting: true}
		}
	}
	return nil
}
