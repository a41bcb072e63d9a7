package cause

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// namespace explains a namespace that is not deleted because objects remain in it, or because an API does not respond.
func namespace(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	conditions := neighbor.Conditions(s.Object, metav1.ConditionTrue)
	has := func(kind corev1.NamespaceConditionType) bool {
		return slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return c.Type == string(kind) })
	}
	found := remainingContent(s, conditions)
	if found == nil {
		found = contentFailure(s, conditions)
	}
	if found == nil {
		found = notStoppedPod(s)
	}
	if !has(corev1.NamespaceDeletionDiscoveryFailure) {
		return found
	}
	worst := s.Worst(s.All(apiServiceKind, "", maxAPIServices))
	switch {
	case worst == nil:
		return found
	case found == nil && (has(corev1.NamespaceContentRemaining) || has(corev1.NamespaceDeletionContentFailure)):
		found = s.Explain(s.Own.Severity, s.Own.Reason, s.Own.Sentence, nil)
	case found == nil:
		v := s.Inherit(worst, verdict.Degraded, "Cannot be deleted, because "+worst.String()+" is not available: ")
		v.Sentence = strings.Replace(v.Sentence, "available: Not available: ", "available: ", 1)
		return v
	}
	s.AddSource(worst.Resource, "") // The next line adds a text about worst.
	found.Sentence += ". In addition, " + worst.String() + " is not available"
	return found
}

// contentFailure explains a namespace that is not deleted because the API server refuses to delete an object in it.
func contentFailure(s *subject.Subject, conditions []metav1.Condition) *verdict.Verdict {
	for n := range conditions {
		if conditions[n].Type != string(corev1.NamespaceDeletionContentFailure) {
			continue
		}
		if v := admission.DeletionFailure(s, conditions[n].Message); v != nil {
			v.Sentence = "Cannot be deleted: " + v.Sentence
			return v
		}
	}
	return nil
}

// remainingContent explains a namespace that is not deleted because objects with finalizers remain in it.
func remainingContent(s *subject.Subject, conditions []metav1.Condition) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	for n := range conditions {
		if conditions[n].Type != string(corev1.NamespaceContentRemaining) {
			continue
		}
		for _, kind := range mention.RemainingKinds(s, conditions[n].Message) {
			if v := waitsFor(s, s.All(kind, s.ID.Name(), neighbor.Limit)); v != nil {
				return v
			}
		}
	}
	return nil
}

// remainingInstances explains a CustomResourceDefinition that is not deleted because objects of its kind remain.
func remainingInstances(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || s.Own.Reason != subject.Terminating {
		return nil
	}
	o := neighbor.Decode[struct {
		Spec struct {
			Group string `json:"group"`
			Names struct {
				Kind string `json:"kind"`
			} `json:"names"`
		} `json:"spec"`
	}](s.Object)
	kind := graph.Kind{Group: o.Spec.Group, Kind: o.Spec.Names.Kind}
	return waitsFor(s, s.All(kind, neighbor.AnyNamespace, neighbor.Limit))
}

// waitsFor explains a deletion that does not end: one of the remaining objects is being deleted, but has a finalizer.
func waitsFor(s *subject.Subject, remaining []neighbor.Neighbor) *verdict.Verdict {
	for n := range remaining {
		r := &remaining[n]
		o := neighbor.Decode[metav1.PartialObjectMetadata](r.Object)
		if o.DeletionTimestamp == nil || len(o.Finalizers) == 0 {
			continue
		}
		sentence := "Being deleted; waiting for finalizer " + o.Finalizers[0]
		s.AddSource(r.Resource, r.ID.Namespace())
		return s.Explain(verdict.Degraded, s.Own.Reason, subject.Sentences(s.Own.Sentence, s.Name(r)+": "+sentence),
			&verdict.Cause{Object: neighbor.ObjectOf(r), Sentence: sentence})
	}
	return nil
}

// notStoppedPod explains a namespace that is not deleted because a pod in it does not stop, for example because no
// kubelet confirms the end of a pod on a node that does not report.
func notStoppedPod(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	pods := s.All(graph.Kind{Kind: "Pod"}, s.ID.Name(), neighbor.Limit)
	worst := s.Worst(slices.DeleteFunc(pods, func(n neighbor.Neighbor) bool {
		return neighbor.Decode[metav1.PartialObjectMetadata](n.Object).DeletionTimestamp == nil
	}))
	if worst == nil {
		return nil
	}
	return s.Inherit(worst, verdict.Degraded, subject.Sentences(s.Own.Sentence, s.Name(worst)+": "))
}
