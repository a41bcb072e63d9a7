package storage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// claimInUse explains why the deletion of a claim does not end: a pod on a node uses the claim. A finished pod counts
// too, until it is deleted (https://kubernetes.io/docs/concepts/storage/persistent-volumes, "in-use protection").
func claimInUse(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || !slices.Contains(o.Finalizers, "kubernetes.io/pvc-protection") {
		return nil
	}
	users := s.Existing(s.Users(s.ID, neighbor.Limit))
	slices.SortFunc(users, func(a, b neighbor.Neighbor) int { return strings.Compare(a.ID.Key, b.ID.Key) })
	for n := range users {
		user := &users[n]
		if user.ID.Kind != (graph.Kind{Kind: "Pod"}) {
			continue
		}
		subject.Follow(s, user)
		p := neighbor.Decode[corev1.Pod](user.Object)
		if p.Spec.NodeName == "" {
			continue // The pod waits for a node, so it does not protect the claim.
		}
		effect := "It uses PersistentVolumeClaim " + s.ID.Name()
		if subject.IsFinished(&p) {
			effect = "It has finished, but was not deleted"
		}
		s.AddSource("core/v1/pods", user.ID.Namespace())
		sentence := subject.Sentences(s.Own.Sentence, s.Name(user)+" uses it")
		cause := &verdict.Cause{Object: neighbor.ObjectOf(user), Sentence: effect}
		return s.Explain(s.Own.Severity, s.Own.Reason, sentence, cause)
	}
	return nil
}
