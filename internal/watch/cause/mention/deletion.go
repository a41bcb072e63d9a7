package mention

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// MissingAtDeletion explains a deletion that does not end by a missing object to which the subject refers: without this
// object, the controller cannot clean up. If the subject reports an error, the error must name the object.
func MissingAtDeletion(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	missing := s.FirstMissing(canOutlive)
	if missing == nil {
		missing = missingTarget(s)
	}
	if missing == nil || missing.Resource == "" || symptom.NamesError(s.Own.Sentence) && !IsNamed(s, missing) {
		return nil
	}
	cause := s.MissingCause(missing)
	return s.Explain(verdict.Degraded, s.Own.Reason, s.Own.Sentence+"; "+cause.Sentence, cause)
}

// canOutlive reports whether the target of a reference normally outlives the object that uses it. The controller of a
// custom resource possibly creates the object that a member such as secretName names, and deletes it first.
func canOutlive(u *graph.Use) bool {
	return !strings.HasSuffix(u.Via, "Name") || strings.HasSuffix(u.Target.Kind.Kind, "Class")
}

// missingTarget returns the first missing object to which the subject certainly refers by a convention, or nil.
func missingTarget(s *subject.Subject) *neighbor.Neighbor {
	for _, t := range targets(s, nil) {
		if t.isSure && t.by.IsRef && t.Presence == neighbor.Missing {
			return &t.Neighbor
		}
	}
	return nil
}
