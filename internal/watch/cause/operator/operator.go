// Package operator explains custom resources by what their controllers report only indirectly: an object that is wrong
// without a problem of its own, a condition that is True although something is missing, or no status at all.
package operator

import (
	"fmt"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Explain adds a cause to the verdict v of a custom resource, unless v has one. If v is nil, it returns a new verdict,
// or nil.
func Explain(s *subject.Subject, v *verdict.Verdict) *verdict.Verdict {
	switch {
	case !resource.IsCustom(s.ID.Group):
	case v != nil:
		if v.Cause == nil && v.Severity.IsProblem() {
			v.Cause = wrongObject(s, v.Sentence)
		}
	case s.Own.Severity.IsProblem():
		sentence := withFailedPart(s, s.Own.Sentence, maxReason)
		complete := withFailedPart(s, subject.CompleteSentence(s), maxText)
		if c := wrongObject(s, complete); c != nil {
			c.Sentence = strings.Replace(c.Sentence, complete, sentence, 1)
			return s.Explain(s.Own.Severity, s.Own.Reason, c.Sentence, c)
		}
		if sentence != s.Own.Sentence {
			return subject.ExplainAlone(s, s.Own.Severity, s.Own.Reason, sentence)
		}
		return expired(s)
	case s.Own.Severity == verdict.OK:
		return missingTarget(s)
	case s.Own.Severity == verdict.None:
		if v := missingTarget(s); v != nil {
			return v
		}
		return withoutStatus(s)
	}
	return v
}

// expired explains a resource with a problem whose certificate has expired. The time of the expiry is in the status.
func expired(s *subject.Subject) *verdict.Verdict {
	text := neighbor.Decode[struct {
		Status struct {
			NotAfter string `json:"notAfter"`
		} `json:"status"`
	}](s.Object).Status.NotAfter
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || strings.Contains(s.Own.Sentence, "expired") || !subject.HasPassed(s, at) {
		return nil
	}
	own, _, _ := strings.Cut(s.Own.Sentence, "; certificate expiry: ") // The time is in the new sentence.
	sentence := fmt.Sprintf("The certificate expired at %s. %s", at.UTC().Format(time.RFC3339), own)
	return subject.ExplainAlone(s, s.Own.Severity, "Expired", strings.TrimSuffix(sentence, ". "))
}
