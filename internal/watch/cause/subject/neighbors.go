package subject

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Existing returns the neighbors with the given IDs. It omits objects that are not in the cache.
func (s *Subject) Existing(ids []graph.ID) []neighbor.Neighbor {
	found := make([]neighbor.Neighbor, 0, len(ids))
	for _, id := range ids {
		if n := s.Find(id); n.Object != nil {
			found = append(found, n)
		}
	}
	return found
}

// MaxOwned limits the objects of one owner that are read. Most rules decode only those with a problem.
const MaxOwned = 10 * neighbor.Limit

// OwnedObjects returns the objects that the subject owns, at most MaxOwned.
func (s *Subject) OwnedObjects() []neighbor.Neighbor {
	if s.Object.UID() == "" {
		return nil
	}
	owned, _ := OwnedBy(s, s.Object.UID(), MaxOwned)
	return owned
}

// Reasons of verdicts.
const (
	Superseded  = "Superseded"  // The owner has replaced the object.
	Terminating = "Terminating" // The object is being deleted.
)

// ReplacedBy returns the verdict OK for an object whose problem does not matter any more. The parameter owner is either
// the owner of the object, which no longer needs the object, or a newer object, such as a Job, that has succeeded.
func ReplacedBy(owner *neighbor.Neighbor, reason, effect string) *verdict.Verdict {
	return &verdict.Verdict{
		Severity: verdict.OK, Reason: reason, Sentence: owner.String() + " " + effect,
		Cause: &verdict.Cause{Object: neighbor.ObjectOf(owner)},
	}
}

// OrderlyOwner returns the subject's owner if it is a custom resource or a CronJob, and if its own verdict has one of
// the severities or the reason Superseded. Otherwise, it returns nil.
func (s *Subject) OrderlyOwner(severities ...verdict.Severity) *neighbor.Neighbor {
	_, owners := s.References(s.ID)
	for n := range owners {
		owner := s.Find(owners[n].ID)
		if owner.Object == nil || owner.Object.UID() != owners[n].UID ||
			!resource.IsCustom(owner.ID.Group) && owner.ID.Kind.Kind != "CronJob" {
			continue
		}
		v := owner.Object.Verdict()
		if slices.Contains(severities, v.Own().Severity()) || v.Unpack().Reason == Superseded {
			return &owner
		}
	}
	return nil
}

// CurrentPods returns the pods that an object owns and that have not ended, or all of its pods if each has ended.
func CurrentPods(s *Subject, n *neighbor.Neighbor) []neighbor.Neighbor {
	all := s.Existing(s.Owned(n.Object.UID(), neighbor.Limit))
	all = slices.DeleteFunc(all, func(o neighbor.Neighbor) bool { return o.ID.Kind != graph.Kind{Kind: "Pod"} })
	current := slices.DeleteFunc(slices.Clone(all), func(o neighbor.Neighbor) bool {
		p := neighbor.Decode[corev1.Pod](o.Object)
		return IsFinished(&p)
	})
	if len(current) > 0 {
		return current
	}
	return all
}

// KnowsAll reports whether all objects of a kind in a namespace ("" for all namespaces) are known. It searches for an
// object without a name. Such an object never exists, but it is known to be missing only if the list is complete.
func KnowsAll(s *Subject, kind graph.Kind, namespace string) bool {
	return s.Find(graph.NewID(kind, namespace, "")).Presence == neighbor.Missing
}

// Follow makes the engine evaluate the subject again when n is created or deleted, or when its verdict changes.
func Follow(s *Subject, n *neighbor.Neighbor) {
	s.Named(s.ID, &neighbor.Mention{
		Kind: n.ID.Kind.Kind, Group: n.ID.Group, Namespace: n.ID.Namespace(), Name: n.ID.Name(),
	})
}

// Used returns the objects to which the subject refers, also missing ones. If include is not nil, Used omits references
// for which include returns false.
func (s *Subject) Used(include func(*graph.Use) bool) iter.Seq[neighbor.Neighbor] {
	return func(yield func(neighbor.Neighbor) bool) {
		uses, _ := s.References(s.ID)
		for n := range uses {
			if (include == nil || include(&uses[n])) && !yield(s.Find(uses[n].Target)) {
				return
			}
		}
	}
}

// IsSelectedBy reports whether a Service sends connections to the subject, a pod.
func IsSelectedBy(s *Subject, service graph.ID) bool {
	selector := s.Selector(service)
	return selector != nil && s.ID.Kind == (graph.Kind{Kind: "Pod"}) && service.Namespace() == s.ID.Namespace() &&
		selector.Matches(neighbor.Decode[metav1.PartialObjectMetadata](s.Object).Labels)
}

// In returns a filter for Used and FirstMissing. It selects the references in a member, such as "spec.tls".
func In(member string) func(*graph.Use) bool {
	return func(u *graph.Use) bool { return strings.HasPrefix(u.Via, member) }
}

// FirstMissing returns the first object that the subject needs and that does not exist, or nil. If include is not nil,
// FirstMissing ignores references for which include returns false.
func (s *Subject) FirstMissing(include func(*graph.Use) bool) *neighbor.Neighbor {
	for target := range s.Used(func(u *graph.Use) bool { return !u.Optional && (include == nil || include(u)) }) {
		if target.Presence == neighbor.Missing {
			return &target
		}
	}
	return nil
}

// Worst returns the neighbor with the worst problem, or nil. Of several equally severe problems, it returns the
// neighbor with the first key in alphabetical order.
func (s *Subject) Worst(neighbors []neighbor.Neighbor) *neighbor.Neighbor {
	var worst *neighbor.Neighbor
	for n := range neighbors {
		if s.HasProblem(&neighbors[n]) && (worst == nil || compare(&neighbors[n], worst) < 0) {
			worst = &neighbors[n]
		}
	}
	return worst
}

func compare(a, b *neighbor.Neighbor) int {
	return cmp.Or(
		cmp.Compare(b.Object.Verdict().Severity(), a.Object.Verdict().Severity()),
		cmp.Compare(a.ID.Key, b.ID.Key),
	)
}

// Workload returns the workload to which a pod belongs, such as a Deployment. It returns the pod itself if it has no
// such owner, or if the owner is not known.
func Workload(s *Subject, pod *neighbor.Neighbor) neighbor.Neighbor {
	found := *pod
	for range maxSteps {
		_, owners := s.References(found.ID)
		at := slices.IndexFunc(owners, func(o graph.Owner) bool {
			n := s.Find(o.ID)
			isWorkload := o.Group == "apps" || o.Group == "batch" || o.Kind.Kind == "ReplicationController"
			return isWorkload && n.Object != nil && n.Object.UID() == o.UID
		})
		if at < 0 {
			break
		}
		found = s.Find(owners[at].ID)
	}
	return found
}
