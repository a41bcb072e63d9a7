package symptom

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
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
		isWarning := strings.EqualFold(word, "warning") && explanation(status, NamesError) != ""
		isBad := isBadWord(word) || isWarning || isBadSentence(word)
		if !isBad || isReady || isOK && isPhase(member[len(member)-1]) ||
			intent.IsEndedByPerson("", stateError(status, member[0], conditions)) {
			continue
		}
		isTotal := slices.Contains([]string{"phase", "state", "status"}, member[0]) && len(member) == 1 && isFailure(word)
		s := &Symptom{Reason: word, IsTotal: isTotal, Since: status.child(member[0]).time("lastUpdateTime")}
		if isBadSentence(word) {
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
		if len(member) == 1 && member[0] != except && isWaitingWord(word) {
			text += ", status." + member[0] + ": " + word
		}
	}
	return text
}

func isWaitingWord(word string) bool {
	switch strings.ToLower(word) {
	case "pending", "processing", "waiting", "creating", "provisioning", "initializing", "progressing", "starting",
		"inprogress", "reconciling", "retrying", "deploying", "installing", "new", "queued":
		return true
	}
	return false
}

// isGoodWord reports whether a word states that an object, and not only a part of it, is in order or has ended well.
func isGoodWord(word string) bool {
	switch strings.ToLower(word) {
	case "succeeded", "success", "completed", "complete", "ready", "healthy", "available", "bound", "deployed", "running",
		"active", "established", "synced", "ok", "online", "up", "valid", "installed", "provisioned":
		return true
	}
	return false
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
			if isState(name) {
				paths = append(paths, []string{name})
			}
		case map[string]any:
			if !isState(name) && !slices.Contains(subjects, name) {
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

// isState reports whether the name of a member ends with the word phase, state, status or health, as in jobState.
func isState(name string) bool {
	words := split(name)
	return len(words) > 1 && (!isHistory(name) || slices.Contains(words, "observed")) &&
		slices.Contains([]string{"phase", "state", "status", "health"}, words[len(words)-1])
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
	return split(word)
}

// isFailure reports whether a word means a complete failure of an action or a check, and not only a partial failure.
func isFailure(word string) bool {
	parts := partsOf(word)
	has := func(words ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(words, part) })
	}
	return isBadWord(word) && !has("partial", "partially", "partly", "some") &&
		has("failed", "failure", "error", "errored", "err", "invalid", "rejected", "crashed")
}

// isBadWord reports whether a word names a failure or a bad state.
func isBadWord(word string) bool {
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

// errorMember finds the text of an error in the status of an object, unless the object is OK.
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
		words := split(name)
		if n := len(words) - 1; n > 0 && slices.Contains([]string{"message", "reason", "text", "details"}, words[n]) {
			words = words[:n]
		}
		isLast := words != nil && words[0] == "last"
		isError := words != nil && slices.Contains([]string{"error", "failure"}, words[len(words)-1])
		if !isError || isHistory(strings.TrimPrefix(name, "last")) || isLast && isOver(status) {
			continue
		}
		text := messageIn(cmp.Or(status.text(name), textOf(status.child(name))))
		if strings.Contains(text, " ") && !noErrorText.MatchString(text) { // One word can be "none" or a time: no error.
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

// isBadSentence reports whether a state is a sentence that names an error.
func isBadSentence(state string) bool {
	return strings.Contains(state, " ") && NamesError(failover.ReplaceAllString(state, ""))
}

// noText matches a message which possibly states that there is no error.
var noText = regexp.MustCompile(`(?i)\b(no|0|zero|none|never|without|recovered|succeeded|successfully)\b`)

// failover matches words such as "failed over", which name no error.
var failover = regexp.MustCompile(`(?i)\bfail(ed|ing|s)?[ -]?over\b`)

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
		if text := explanation(status, NamesError, member+"Message", member+"Reason"); text != "" {
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
		isFailed := isBadWord(kind) && kind != "Unschedulable"
		if IsBadIfTrue(kind) && (isFailed || strings.HasPrefix(kind, "No") || strings.HasSuffix(kind, "Errors")) {
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
		if text := status.text(member); NamesError(text) && !noText.MatchString(text) {
			return &Symptom{Reason: "Error", Sentence: text}
		}
	}
	return nil
}

// waiting finds an error in the explanation of an object that waits.
func waiting(status members, _ []condition, isOK bool) *Symptom {
	phase := cmp.Or(status.text("phase"), status.text("state"))
	if !isWaitingWord(phase) {
		return nil
	}
	for _, member := range []string{"message", "reason", "statusMessage", "phaseReason", "stateMessage"} {
		text := status.text(member)
		if isError := NamesError(text) || member == "reason" && badReason.MatchString(text); !isOK && isError {
			return &Symptom{Reason: phase, Sentence: phase + ": " + text, IsWaiting: true}
		}
	}
	return nil
}
