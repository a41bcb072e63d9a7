package mention

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// eventReferral matches a message that only refers to the events of an object, such as "see its attached Events".
var eventReferral = regexp.MustCompile(
	`(?i)\b(see|check|refer to|consult) (the |its |their )?(attached |related |object )?events?\b`)

// failureWords matches words which state that something failed, but not why.
var failureWords = regexp.MustCompile(`(?i)\b(fail(ed|s|ing|ures?)?( to (be )?[a-z]+)?|` +
	`(unable to|cannot|can't|could not|couldn't) (be )?[a-z]+|errors?)\b`)

// RefersToEvents reports whether a sentence refers to the events of an object for the reason of a problem, and does not
// name the reason itself.
func RefersToEvents(own *verdict.Verdict) bool {
	if !eventReferral.MatchString(own.Sentence) {
		return false
	}
	rest := eventReferral.ReplaceAllString(own.Sentence, "")
	if own.Reason != "" {
		rest = strings.Replace(rest, own.Reason+": ", "", 1)
	}
	return !symptom.NamesError(failureWords.ReplaceAllString(rest, ""))
}

// RepeatedWarning explains the subject by its newest event, if this is a repeated warning. If the event names a missing
// object, this object is the cause. Without such a warning, RepeatedWarning checks whether the API server forbids a
// controller to list the kind of the subject.
func RepeatedWarning(s *subject.Subject) *verdict.Verdict {
	v := s.RepeatedWarning("")
	if v == nil {
		return api.Unlisted(s)
	}
	v.Cause = MissingCause(s, v.Sentence)
	return v
}
