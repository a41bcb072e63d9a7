package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// DisruptionBudget explains why a budget permits no eviction: because of another budget, or of an unhealthy pod.
func DisruptionBudget(s *subject.Subject) *verdict.Verdict {
	if message := s.EventMessage("UnmanagedPods"); message != "" && !s.Own.Severity.IsProblem() {
		return s.Explain(verdict.Degraded, "UnmanagedPods", "Allowed disruptions cannot be computed correctly: "+message, nil)
	}
	selector := s.Selector(s.ID)
	if selector == nil {
		return nil
	}
	selected := s.Selected(s.ID.Namespace(), selector, neighbor.Limit)
	if v := overlappingBudget(s, selected); v != nil {
		return v
	}
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	if worst := s.Worst(s.Existing(selected)); worst != nil {
		return s.Inherit(worst, s.Own.Severity, s.Own.Sentence+". ")
	}
	return nil
}

// overlappingBudget reports another budget that selects a pod of this budget. The API server refuses to evict such a
// pod, because the eviction API supports only one budget for each pod.
func overlappingBudget(s *subject.Subject, selected []graph.ID) *verdict.Verdict {
	if len(selected) == 0 {
		return nil
	}
	isShared := func(id graph.ID) bool { return slices.Contains(selected, id) && needsBudget(s, id) }
	for _, other := range s.All(s.ID.Kind, s.ID.Namespace(), neighbor.Limit) {
		selector := s.Selector(other.ID)
		if other.ID == s.ID || selector == nil {
			continue
		}
		if slices.ContainsFunc(s.Selected(s.ID.Namespace(), selector, neighbor.Limit), isShared) {
			s.AddSource(subject.PodsRef, s.ID.Namespace())
			s.AddSource(other.Resource, s.ID.Namespace())
			return s.Explain(verdict.Degraded, "MultiplePodDisruptionBudgets", "Pods that "+other.String()+
				" also selects cannot be evicted: the eviction API supports only one budget for each pod", nil)
		}
	}
	return nil
}

// needsBudget reports whether the eviction of a pod needs the permission of the pod's budget. Only the eviction of a
// running pod that is not being deleted needs it.
func needsBudget(s *subject.Subject, id graph.ID) bool {
	n := s.Find(id)
	p := neighbor.Decode[corev1.Pod](n.Object)
	return n.Object != nil && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning
}
