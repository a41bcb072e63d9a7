package subject

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// HasProblem reports whether a neighbor is degraded or failed for a reason that still applies. Without this
// check, two objects could keep each other's verdict forever.
func (s *Subject) HasProblem(n *neighbor.Neighbor) bool {
	return n.Object != nil && n.Object.Verdict().Severity().IsProblem() && s.stillApplies(n)
}

// IsFailed reports whether a neighbor is failed for a reason that still applies.
func (s *Subject) IsFailed(n *neighbor.Neighbor) bool {
	return s.HasProblem(n) && n.Object.Verdict().Severity() == verdict.Failed
}

// stillApplies reports whether the cause of a neighbor's problem still exists.
func (s *Subject) stillApplies(n *neighbor.Neighbor) bool {
	v := n.Object.Verdict()
	if !v.IsInherited() || v.Own().Severity() == v.Severity() {
		return true
	}
	root := v.Unpack().Cause
	switch {
	case root == nil:
		return true
	case root.Object == neighbor.ObjectOf(&s.Neighbor):
		return s.Own.Severity.IsProblem()
	case root.Resource == "":
		return true
	}
	found := s.Find(neighbor.IDOf(&root.Object))
	if root.Missing {
		return found.Presence != neighbor.Present
	}
	return found.Object != nil && found.Object.Verdict().Severity() > verdict.OK || s.isReported(n, root)
}

// maxSteps limits the objects that pass a verdict on.
const maxSteps = 5

// isReported reports whether the object that reported a cause still has a problem. The cause itself can have none, such
// as a policy that denies pods.
func (s *Subject) isReported(n *neighbor.Neighbor, root *verdict.Cause) bool {
	for range maxSteps {
		if n.Object == nil {
			return false
		}
		v := n.Object.Verdict().Unpack()
		if v.Cause == nil || v.Cause.Object != root.Object {
			return false
		}
		if v.Via == nil {
			return n.Object.Verdict().Own().Severity() > verdict.OK
		}
		next := s.Find(neighbor.IDOf(v.Via))
		n = &next
	}
	return false
}
