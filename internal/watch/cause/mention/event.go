package mention

import (
	"regexp"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// eventReferral matches a message that only refers to the events of an object, such as "see its attached Events".
var eventReferral = regexp.MustCompile(
	`(?i)\b(see|check|refer to|consult) (the |its |their )?(attached |related |object )?events?\b`)

// RefersToEvents reports whether a message refers to the events of an object for the reason of a problem.
func RefersToEvents(message string) bool { return eventReferral.MatchString(message) }

// RepeatedWarning explains the subject by its newest event, if this is a repeated warning. If the event names a missing
// object, this object is the cause.
func RepeatedWarning(s *subject.Subject) *verdict.Verdict {
	v := s.RepeatedWarning("")
	if v != nil {
		v.Cause = MissingCause(s, v.Sentence)
	}
	return v
}
