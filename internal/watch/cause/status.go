package cause

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// statusProblem explains the problem of a custom resource by the problem of an object to which its status refers, such
// as the last run.
func statusProblem(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	worst := s.Worst(subject.StatusObjects(s))
	if worst == nil {
		return nil
	}
	return subject.InheritWithError(s, worst)
}
