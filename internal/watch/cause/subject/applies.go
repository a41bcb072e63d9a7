package subject

import (
	"regexp"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// HasProblem reports whether a neighbor is degraded or failed for a reason that still applies. Without the check of the
// reason, two objects could keep each other's verdict forever.
func (s *Subject) HasProblem(n *neighbor.Neighbor) bool {
	return n.Object != nil && n.Object.Verdict().Severity().IsProblem() && !s.explains(n) && s.stillApplies(n)
}

// explains reports whether a neighbor inherits or will inherit its problem from the subject, directly or through other
// objects.
func (s *Subject) explains(n *neighbor.Neighbor) bool {
	v, self := n.Object.Verdict().Unpack(), neighbor.ObjectOf(&s.Neighbor)
	if n.Object.Verdict().IsInherited() && (v.Cause != nil && v.Cause.Object == self || v.Via != nil && *v.Via == self) {
		return true
	}
	return resource.IsCustom(s.ID.Group) && isPartOf(s, n)
}

// isPartOf reports whether n uses an owner of the subject s. Problems then pass from the subject to its owner, and from
// the owner to n. If they also passed in the other direction, the three objects could keep each other's verdict
// forever. For example, a cluster uses a control plane, which owns machines that refer to the cluster.
func isPartOf(s *Subject, n *neighbor.Neighbor) bool {
	_, owners := s.References(s.ID)
	uses, _ := s.References(n.ID)
	return slices.ContainsFunc(owners, func(o graph.Owner) bool {
		return slices.ContainsFunc(uses, func(u graph.Use) bool { return u.Target == o.ID })
	})
}

// IsDependent reports whether n, which the subject uses or names, also uses the subject, and does not cause the problem
// of the subject. For example, if the subject reports an error, and n only waits, the subject is the cause of n's
// problem. If n has a problem, and its status refers to the subject, n always depends on the subject, as an owner
// depends on its run. A Service without pods depends on the workload that creates its pods.
func (s *Subject) IsDependent(n neighbor.Neighbor) bool {
	switch {
	case n.Object == nil:
		return false
	case needsPodsOf(s, &n):
		return true
	case n.Object.Verdict().IsInherited():
		return false
	}
	own := n.Object.Verdict().Own().Unpack()
	switch {
	case own.Severity.IsProblem() && refersTo(&n, s.ID):
		return true
	case rank(&own) > rank(&s.Own):
		return false
	}
	uses, _ := s.References(n.ID)
	return slices.ContainsFunc(uses, func(u graph.Use) bool { return u.Target == s.ID })
}

var waiting = regexp.MustCompile(`(?i)\b(await|wait(s|ing)?|pending|not (yet )?ready)\b`)

// rank returns 0 for a verdict that is not a problem, or only names what the object waits for. It returns 2 for an
// error, and 1 for another problem. Of two objects that use each other, the one with the higher rank explains the
// other.
func rank(own *verdict.Verdict) int {
	switch {
	case !own.Severity.IsProblem():
		return 0
	case wording.NamesError(own.Sentence):
		return 2
	case waiting.MatchString(own.Sentence):
		return 0
	}
	return 1
}

// IsFailed reports whether a neighbor is failed for a reason that still applies.
func (s *Subject) IsFailed(n *neighbor.Neighbor) bool {
	return s.HasProblem(n) && n.Object.Verdict().Severity() == verdict.Failed
}

// IsDown reports whether a Service has failed for a reason that still applies, or has no pods on purpose.
func IsDown(s *Subject, service *neighbor.Neighbor) bool {
	isScaled := service.Object != nil && service.Object.Verdict().Unpack().Reason == "ScaledToZero"
	return isScaled || s.IsFailed(service)
}

// IsSettled reports whether the object is old enough that its controllers have handled it.
func (s *Subject) IsSettled() bool { return HasPassed(s, s.Object.Created().Add(SettleTime)) }

// HasPassed reports whether a time has passed. If it has not, the object is evaluated again at this time.
func HasPassed(s *Subject, at time.Time) bool {
	if !s.Now().Before(at) {
		return true
	}
	s.RevisitAt(at)
	return false
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
	case root.Resource == "":
		return true
	}
	found := s.Find(neighbor.IDOf(&root.Object))
	if root.Missing {
		return found.Presence != neighbor.Present
	}
	return found.Object != nil && found.Object.Verdict().Severity() > verdict.OK || isReported(s, n, root) ||
		found.Object != nil && isAboutContent(n, root)
}

// isAboutContent reports whether n has a problem because of the content or the permissions of the object root (such as
// the ports of a Service), although root itself has no problem. Such a cause never inherits from n, so the two
// verdicts cannot depend on each other.
func isAboutContent(n *neighbor.Neighbor, root *verdict.Cause) bool {
	switch root.Kind {
	case "ConfigMap", "Secret", "Service", "ServiceAccount", "StorageClass", "Role", "ClusterRole", "RoleBinding",
		"ClusterRoleBinding", "NetworkPolicy", "FlowSchema":
		return n.Object.Verdict().Unpack().Via == nil
	}
	return n.ID.Kind.Kind == "Service" && root.Kind == "EndpointSlice"
}

// maxSteps limits how many objects isReported follows on the path of an inherited verdict.
const maxSteps = 5

// isReported follows the path of n's inherited verdict to the object with the original problem, and reports whether it
// still has this problem. The cause itself, for example a policy that denies pods, can be healthy.
func isReported(s *Subject, n *neighbor.Neighbor, root *verdict.Cause) bool {
	for range maxSteps {
		if n.Object == nil {
			return false
		}
		v := n.Object.Verdict().Unpack()
		if v.Cause == nil || v.Cause.Object != root.Object {
			return false
		}
		if v.Via == nil {
			return n.Object.Verdict().Own().Severity() > verdict.OK || isAboutContent(n, root)
		}
		next := s.Find(neighbor.IDOf(v.Via))
		n = &next
	}
	return false
}
