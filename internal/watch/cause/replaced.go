package cause

import (
	"regexp"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// replacedBy returns the verdict OK for an object whose problem does not matter any more. The parameter owner is either
// the owner of the object, which does not need it, or the newest Job of the object, which has succeeded.
func replacedBy(owner *neighbor.Neighbor, reason, effect string) *verdict.Verdict {
	return &verdict.Verdict{
		Severity: verdict.OK, Reason: reason, Sentence: owner.String() + " " + effect,
		Cause: &verdict.Cause{Object: neighbor.ObjectOf(owner)},
	}
}

// attempt matches kinds whose objects are made one after the other, and not side by side like replicas.
var attempt = regexp.MustCompile(
	`(Request|Order|Challenge|Run|Revision|Workflow|Backup|Restore|Job|Execution|Attempt)$`)

// superseded returns OK for a failed attempt, such as a Job, that its owner no longer needs. Otherwise, it returns nil.
func superseded(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || !attempt.MatchString(s.ID.Kind.Kind) {
		return nil
	}
	owner := s.OrderlyOwner()
	if owner == nil || !isSuperseded(s, owner) {
		return nil
	}
	return replacedBy(owner, subject.Superseded, "no longer needs this object")
}

// isComplete reports whether an object has ended. Unless it has a problem, it then needs none of its attempts any more.
func isComplete(n *neighbor.Neighbor) bool {
	o := neighbor.Decode[struct {
		Status struct {
			CompletionTime string `json:"completionTime"`
			FinishedAt     string `json:"finishedAt"`
		} `json:"status"`
	}](n.Object)
	return o.Status.CompletionTime != "" || o.Status.FinishedAt != ""
}

// isSuperseded reports whether the owner has ended, was replaced itself, or has a newer object of the subject's kind
// that has no problem.
func isSuperseded(s *subject.Subject, owner *neighbor.Neighbor) bool {
	if owner.Object.Verdict().Own().Severity() != verdict.OK || isComplete(owner) {
		return true
	}
	siblings := s.Existing(s.Owned(owner.Object.UID(), neighbor.Limit))
	return slices.ContainsFunc(siblings, func(n neighbor.Neighbor) bool {
		return n.ID.Kind == s.ID.Kind && n.ID != s.ID && n.Object.Verdict().Own().Severity() == verdict.OK &&
			!n.Object.Created().Before(s.Object.Created())
	})
}
