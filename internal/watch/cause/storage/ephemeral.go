package storage

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// EphemeralClaim explains a pod that cannot start because of an ephemeral volume. Kubernetes derives the name of the
// claim for such a volume from the names of the pod and of the volume. It does not use a claim of this name that was
// not created for the pod. The API server can also reject the claim.
func EphemeralClaim(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || s.Object.UID() == "" {
		return nil
	}
	for n := range p.Spec.Volumes {
		if p.Spec.Volumes[n].Ephemeral == nil {
			continue
		}
		volume := p.Spec.Volumes[n].Name
		claim := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolumeClaim"}, s.ID.Namespace(), s.ID.Name()+"-"+volume))
		subject.Follow(s, &claim)
		if v := rejectedClaim(s, volume, &claim); v != nil {
			return v
		}
		if claim.Object == nil || claim.IsOwnedBy(s.Object.UID()) {
			continue
		}
		sentence := fmt.Sprintf("The pod needs a new claim for its ephemeral volume %s, but %s already exists, and was "+
			"not created for pod %s", volume, &claim, s.ID.Name())
		if neighbor.Decode[corev1.PersistentVolumeClaim](claim.Object).DeletionTimestamp != nil {
			sentence += ". This claim is being deleted"
		}
		return s.ExplainBy(&claim, s.Own.Severity, s.Own.Reason, sentence)
	}
	return nil
}

// rejectedClaim explains a pod by the reason why Kubernetes cannot create the claim of an ephemeral volume, according
// to an event about the last attempt. After an error, Kubernetes tries again and again.
func rejectedClaim(s *subject.Subject, volume string, claim *neighbor.Neighbor) *verdict.Verdict {
	if claim.Presence != neighbor.Missing || s.Own.Reason != corev1.PodReasonUnschedulable {
		return nil
	}
	last := s.NewestEvent(func(e *corev1.Event) bool {
		return e.Reason == "FailedBinding" && strings.HasPrefix(e.Message, "ephemeral volume "+volume+": ")
	})
	if last == nil || subject.HasPassed(s, neighbor.EventTime(last).Add(subject.MaxCallAge)) {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	if v := admission.Failure(s, last.Message); v != nil {
		v.Sentence = subject.Sentences("The claim of volume "+volume+" cannot be created", v.Sentence)
		return v
	}
	return s.Explain(s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, last.Message), nil)
}
