package mention

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// eventReferral matches a message that only refers to the events of an object, such as "see its attached Events".
var eventReferral = regexp.MustCompile(
	`(?i)\b(see|check|refer to|consult) (the |its |their )?(attached |related |object )?events?\b`)

// failureWords matches words which state that something failed, but not why.
var failureWords = regexp.MustCompile(`(?i)\b(fail(ed|s|ing|ures?)?( to (be )?[a-z]+)?|` +
	`(unable to|cannot|can't|could not|couldn't) (be )?[a-z]+|errors?)\b`)

// refersToEvents reports whether a sentence refers to the events of an object for the reason of a problem, and does not
// name the reason itself.
func refersToEvents(own *verdict.Verdict) bool {
	if !eventReferral.MatchString(own.Sentence) {
		return false
	}
	rest := eventReferral.ReplaceAllString(own.Sentence, "")
	if own.Reason != "" {
		rest = strings.Replace(rest, own.Reason+": ", "", 1)
	}
	return !wording.NamesError(failureWords.ReplaceAllString(rest, ""))
}

// RepeatedWarning explains the subject by its newest event, if this is a repeated warning. If the event names a missing
// object, this object is the cause. If it states that the subject waits for an object with a problem, the cause is that
// of this problem. Without such a warning, RepeatedWarning checks whether the API server forbids a controller to list
// the kind of the subject.
func RepeatedWarning(s *subject.Subject) *verdict.Verdict {
	v := s.RepeatedWarning("")
	if v == nil {
		return api.Unlisted(s)
	}
	if v.Cause = MissingCause(s, v.Sentence); v.Cause == nil {
		if by := awaited(s, v); by != nil {
			return by
		}
	}
	return v
}

// waitingPattern matches a warning which states that something waits, or that something else is not ready.
var waitingPattern = regexp.MustCompile(`(?i)\b(?:(?:delay|wait)(?:s|ed|ing)?|postpone[sd]?|postponing|` +
	`defer(?:s|red|ring)?|not (?:yet )?(?:ready|available|running|reachable|upgraded|up to date)|not [a-z]+ yet)\b`)

// awaited adds a cause to the verdict v about a warning: the subject waits for an object that has a problem. The spec
// of the subject refers to this object. The warning contains its name, or its kind if the subject refers to only one
// object of this kind.
func awaited(s *subject.Subject, v *verdict.Verdict) *verdict.Verdict {
	if !waitingPattern.MatchString(v.Sentence) {
		return nil
	}
	var candidates []neighbor.Neighbor
	all := targets(s, nil)
	for _, t := range all {
		isOther := func(other target) bool { return other.ID.Kind == t.ID.Kind && other.ID != t.ID }
		isNamed := namesTarget(v.Sentence, &t) || namesKind(v.Sentence, t.ID) && !slices.ContainsFunc(all, isOther)
		if isNamed && t.by.IsRef && !s.IsDependent(t.Neighbor) {
			candidates = append(candidates, t.Neighbor)
		}
	}
	worst := s.Worst(candidates)
	if worst == nil {
		return nil
	}
	by := s.Inherit(worst, v.Severity, subject.Sentences(v.Sentence, s.Name(worst)+": "))
	by.Reason = v.Reason
	return by
}

// LastWarning returns the object's own verdict with the message of the newest Warning event added, if this verdict
// names no error, or if it has a constant sentence that the event explains. Otherwise, it returns nil.
func LastWarning(s *subject.Subject) *verdict.Verdict {
	switch s.ID.Kind {
	case graph.Kind{Kind: "Pod"}, graph.Kind{Kind: "Node"}, graph.Kind{Kind: "Event"},
		graph.Kind{Group: "events.k8s.io", Kind: "Event"}:
		return nil // Objects of these kinds already have specific verdicts of their own.
	}
	isState := resource.IsCustom(s.ID.Group) && s.Own.Sentence == s.Own.Reason // Only a state, such as "Error".
	// In these groups, an object's own verdict only counts pods.
	isCount := s.ID.Group == "apps" || s.ID.Group == "batch"
	isVague := s.Own.Severity == verdict.Degraded || (isCount || isState) && s.Own.Severity == verdict.Failed
	isReferral := refersToEvents(&s.Own)
	isSpecific := wording.NamesError(s.Own.Sentence) && !isReferral && !isState
	if !isVague || isSpecific && !constantSentence.MatchString(s.Own.Sentence) {
		return nil
	}
	last := s.NewestEvent(subject.IsWarning)
	if last == nil || isSpecific && !explainsConstant(s, last) {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	sentence := last.Message
	switch {
	case s.Own.Sentence == "" || isReferral:
	case strings.Contains(s.Own.Sentence, last.Message):
		sentence = s.Own.Sentence
	default:
		sentence = s.Own.Sentence + ": " + sentence
	}
	return s.Explain(verdict.Degraded, last.Reason, sentence, MissingCause(s, last.Message))
}

var (
	// constantSentence matches a sentence without a name, a number or a cause, such as "unable to validate store". Some
	// controllers write such a sentence into a condition, and the error itself into an event.
	constantSentence = regexp.MustCompile(`^[A-Za-z][a-z]*( [a-z]+)+\.?$`)
	// failedReason matches a reason which states that something failed.
	failedReason = regexp.MustCompile(`(?:Failed|Failure|Error)$`)
)

// explainsConstant reports whether an event contains the error that the constant sentence of the subject omits. The
// event has the reason of the subject; or both reasons state a failure, and the event first occurred when the condition
// with the reason of the subject changed.
func explainsConstant(s *subject.Subject, e *corev1.Event) bool {
	switch {
	case !resource.IsCustom(s.ID.Group):
		return false
	case e.Reason == s.Own.Reason:
		return true
	case !failedReason.MatchString(e.Reason) || !failedReason.MatchString(s.Own.Reason):
		return false
	}
	began := e.FirstTimestamp.Time
	if began.IsZero() {
		began = neighbor.EventTime(e)
	}
	return slices.ContainsFunc(neighbor.Conditions(s.Object, metav1.ConditionFalse), func(c metav1.Condition) bool {
		return c.Reason == s.Own.Reason && began.Sub(c.LastTransitionTime.Time).Abs() <= time.Minute
	})
}
