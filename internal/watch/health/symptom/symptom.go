// Package symptom finds signs of a problem in the status of an object of any kind: conditions whose names mean
// a bad state, texts of errors, and messages that name a missing object. All functions are pure.
package symptom

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// Symptom is a sign of a problem.
type Symptom struct {
	Reason, Sentence string
	Since            time.Time // Zero if it is not known.
	// IsWaiting means that the object is in a waiting state, and that its explanation of this state names an error.
	IsWaiting bool
	// IsTotal means that the object does not work at all. IsFinal means that its controller does not try again.
	IsTotal, IsFinal bool
	// isRecent means that the problem began when the object last changed. Then Since is zero.
	isRecent bool
}

// Of returns the sign of a problem, if it finds one. isOK means that another rule has already found the object healthy.
func Of(o map[string]any, isOK bool) (s Symptom, ok bool) {
	found := first(o, isOK)
	if found == nil || IsEndedByPerson(o) { // This check is slow, so it is the last one.
		return Symptom{}, false
	}
	if !found.isRecent {
		found.Since = cmp.Or(found.Since, createdAt(o))
	}
	return *found, true
}

// first returns the first sign of a problem, or nil. isOK means that another rule found the object healthy.
func first(object members, isOK bool) *Symptom {
	status, generation := object.child("status"), generationOf(object)
	conditions := conditionsOf(status, "", generation)
	if found := unanswered(object); found != nil {
		return found
	}
	spec := object.child("spec")
	isEmpty := spec["replicas"] == int64(0) || spec["instances"] == int64(0)
	if status == nil || isEmpty || isSuspended(spec, conditions) {
		return nil
	}
	conditions = configured(conditions, spec)
	parts := partConditions(status, generation, "listeners", "ancestors", "parents", "bindings")
	isGood := isSummaryGood(status, conditions)
	found := cmp.Or(endedRun(status, conditions, isOK), badTrue(conditions, isOK), badTrue(parts, isOK), badPart(parts))
	if found == nil && isOK && !isGood && len(conditions) == 0 && errorIn(status) != "" {
		// Pass false for isOK, although a script found the object healthy, because the script possibly does not read
		// the phase.
		found = badPhase(status, conditions, false)
	}
	if found != nil {
		return found
	}
	blocked := blockedPart(status, isOK)
	isOK = isOK || isGood
	for _, find := range []func(members, []condition, bool) *Symptom{
		badPhase, errorMember, badFalse, waiting, refused, badFlag, onlyMessage, retrying,
	} {
		if found := find(status, conditions, isOK); found != nil {
			return found
		}
	}
	parts = partConditions(status, generation)
	return cmp.Or(falsePart(parts, isOK), failedPart(status, isOK), blocked, unreadyPart(spec, status, generation),
		wrongExpression(object))
}

func createdAt(o members) time.Time {
	at, _ := time.Parse(time.RFC3339, o.text("metadata", "creationTimestamp"))
	return at
}

func generationOf(o members) int64 {
	generation, _ := o.child("metadata")["generation"].(int64)
	return generation
}

// IsSuspended reports whether an object does nothing on purpose.
func IsSuspended(o map[string]any) bool {
	return isSuspended(members(o).child("spec"), conditionsOf(members(o).child("status"), "", generationOf(o)))
}

func isSuspended(spec members, conditions []condition) bool {
	if intent.IsOff(spec) {
		return true
	}
	return hasIdle(conditions, "Ready", "Available", "Healthy", "Synced", "Reconciled") ||
		slices.ContainsFunc(conditions, func(c condition) bool {
			return c.is("True") && wording.IsIdleName(c.kind) && !c.isForced()
		})
}

// isSummaryGood reports whether the status states that the object, and not only a part of it, is in order or has ended
// well.
func isSummaryGood(status members, conditions []condition) bool {
	if status["ready"] == true || status["readyToUse"] == true {
		return true
	}
	phase := cmp.Or(status.text("phase"), status.text("state"))
	if wording.IsGoodWord(phase) {
		return true
	}
	good := []string{"Ready", "Available", "Healthy", "Succeeded", "Established"}
	if !wording.IsBadWord(phase) { // With a bad phase, "Completed" means: with an error.
		good = append(good, "Complete", "Completed", "Finished")
	}
	return slices.ContainsFunc(conditions, func(c condition) bool {
		return c.is("True") && slices.Contains(good, c.kind)
	})
}

// Failure returns a condition that is True, whose name means a bad state, and whose message names an error. ok is false
// if there is none, or if a person has stopped the object or its controller.
func Failure(o map[string]any) (s Symptom, ok bool) {
	found := badTrue(conditionsOf(members(o).child("status"), "", generationOf(o)), true)
	if found == nil || HasPausedController(o) || IsEndedByPerson(o) {
		return Symptom{}, false
	}
	return *found, true
}

func symptomOf(c *condition) *Symptom {
	return &Symptom{Reason: cmp.Or(c.reason, c.kind), Sentence: c.text(), Since: c.since}
}

// badTrue finds a condition that is True, and whose name means a bad state. For an otherwise healthy object (isOK),
// the message must also name an error.
func badTrue(conditions []condition, isOK bool) *Symptom {
	var found *condition
	for n := range conditions {
		c := &conditions[n]
		if !c.isBadTrue() || isOK && !wording.NamesError(c.message) {
			continue
		}
		if found == nil || found.message == "" && c.message != "" {
			found = c
		}
	}
	if found == nil {
		return nil
	}
	return symptomOf(found)
}

// badPart finds a part that does not work, such as a listener of a Gateway or an ancestor of a policy.
func badPart(parts []condition) *Symptom {
	for n := range parts {
		c := &parts[n]
		isBasic := slices.Contains([]string{"Accepted", "Programmed", "ResolvedRefs", "Ready", "Valid"}, c.kind)
		if isBasic && c.isFalse() {
			return symptomOf(c)
		}
	}
	return nil
}

// lostText matches the message of a condition that is Unknown because a remote agent no longer reports its state.
var lostText = regexp.MustCompile(`(?i)\b((stopped|ceased) (updating|posting|reporting|sending|renewing)|` +
	`lost (the )?(contact|connection|heartbeats?)|(missed|no) heartbeats?)\b`)

// badFalse finds a condition with one of three properties: it is False because of an error, it means a partial failure,
// or it is Unknown (undecided, an agent no longer reports its state, or an error prevents a step).
func badFalse(_ members, conditions []condition, isOK bool) *Symptom {
	for n := range conditions {
		c := &conditions[n]
		isUndecided := c.is("Unknown") && !isOK &&
			(c.kind == "Accepted" || c.kind == "Programmed" || lostText.MatchString(c.message) || c.hasUnknownEnd())
		if !isOK && c.isPartial() {
			return symptomOf(c)
		}
		if !c.isFalse() && !isUndecided {
			continue
		}
		isBad := isUndecided || wording.NamesMissing(c.message) || wording.IsBadReason(c.reason) ||
			wording.IsSummary(c.kind) || wording.IsAchievement(c.kind) && wording.NamesError(c.message) ||
			wording.IsFailure(c.message) || message.IsImpossible(c.message)
		if isOK && wording.ContradictsReady(c.kind, c.reason, c.message) || !isOK && isBad {
			return symptomOf(c)
		}
	}
	return nil
}

// Detail returns a sentence from the status that explains the problem of an object. It returns "" if there is none, or
// if the summary already quotes an error from the status. An error in a health script's own words does not count.
func Detail(o map[string]any, summary string) string { return detailOf(o, summary, false) }

// detailOf returns the result of Detail. If withOldest is true, it also reads the oldest condition that is False.
func detailOf(o map[string]any, summary string, withOldest bool) string {
	status, generation := members(o).child("status"), generationOf(o)
	main, parts := conditionsOf(status, "", generation), partConditions(status, generation)
	namesError := wording.NamesError(summary) && strings.Contains(summary, " ") && !wording.IsReferral(summary)
	if namesError && isQuoted(summary, status, slices.Concat(main, parts)) {
		return ""
	}
	all := slices.Concat(main, parts)
	for _, try := range []struct {
		conditions  []condition
		isCandidate func(*condition) bool
	}{
		{all, (*condition).isBadTrue},
		{all, func(c *condition) bool { return c.isFalse() && wording.NamesError(c.message) }},
		{parts, (*condition).isFalse},
		{main, func(c *condition) bool { return c.isFalse() && wording.IsSummary(c.kind) && namesError }},
	} {
		for n := range try.conditions {
			c := &try.conditions[n]
			if c.message != "" && try.isCandidate(c) && !strings.Contains(summary, c.message) && !wording.IsReferral(c.message) {
				return c.text()
			}
		}
	}
	text := errorIn(status)
	if text == "" && badPhase(status, main, false) != nil {
		text = namedError(status)
	}
	if text != "" && !strings.Contains(summary, text) {
		return text
	}
	part := cmp.Or(falsePart(parts, false), failedPart(status, false))
	if part != nil && !strings.Contains(summary, part.Reason) {
		return part.Sentence
	}
	if c := oldest(main); withOldest && c != nil && !isQuoted(summary, status, all) {
		return c.text()
	}
	return ""
}

// WithDetail appends a sentence as from Detail to a summary, or replaces a summary that gives no information.
func WithDetail(o map[string]any, summary string) string {
	detail := detailOf(o, summary, true)
	switch {
	case detail == "":
		return summary
	case summary == "" || summary == "Condition is unknown":
		return detail
	}
	return summary + ". " + detail
}

// oldest returns the condition that has been False for the longest time, or nil. This condition often explains the
// others. Only conditions about the object or a step of its controller count, with a time and a message of several
// words.
func oldest(conditions []condition) (found *condition) {
	for n := range conditions {
		c := &conditions[n]
		isCandidate := c.isFalse() && (wording.IsSummary(c.kind) || wording.IsAchievement(c.kind)) && !c.since.IsZero()
		if isCandidate && strings.Contains(c.message, " ") && !wording.IsReferral(c.message) &&
			(found == nil || c.since.Before(found.since)) {
			found = c
		}
	}
	return found
}

// isQuoted reports whether a summary contains a text of the object's status.
func isQuoted(summary string, status members, conditions []condition) bool {
	texts := []string{errorIn(status), namedError(status)}
	for member := range status {
		texts = append(texts, status.text(member))
	}
	for n := range conditions {
		texts = append(texts, conditions[n].message)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, " ") && strings.Contains(summary, text)
	})
}
