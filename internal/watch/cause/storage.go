package cause

import (
	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// claim explains why a PersistentVolumeClaim is not bound.
func claim(s *subject) *verdict.Verdict {
	o := neighbor.Decode[corev1.PersistentVolumeClaim](s.Object)
	if o.Status.Phase == corev1.ClaimBound || s.own.Severity == verdict.None {
		return nil
	}
	if target := s.firstMissing(func(u *graph.Use) bool {
		return u.Target.Kind.Kind == "StorageClass" || u.Target.Kind.Kind == "PersistentVolume"
	}); target != nil {
		return s.missing(verdict.Failed, target)
	}
	if v := claimedVolume(s, &o); v != nil {
		return v
	}
	className := o.Spec.StorageClassName
	if className != nil && *className != "" && o.Spec.VolumeName == "" {
		n := s.Find(graph.NewID(graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}, "", *className))
		class := neighbor.Decode[storage.StorageClass](n.Object)
		if class.VolumeBindingMode != nil && *class.VolumeBindingMode == storage.VolumeBindingWaitForFirstConsumer {
			return s.waitingClaim(&n)
		}
	}
	if message := s.lastEvent("ProvisioningFailed", "FailedBinding", "VolumeMismatch"); message != "" {
		return s.inherit(verdict.Failed, "ProvisioningFailed", message, nil)
	}
	return nil
}

// claimedVolume explains a claim that names a volume which belongs to another claim, or to a deleted one.
func claimedVolume(s *subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	if o.Spec.VolumeName == "" {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", o.Spec.VolumeName))
	owner := neighbor.Decode[corev1.PersistentVolume](n.Object).Spec.ClaimRef
	if owner == nil {
		return nil
	}
	var sentence string
	switch {
	case owner.Namespace != o.Namespace || owner.Name != o.Name:
		other := owner.Namespace + "/" + owner.Name
		sentence = "PersistentVolume " + o.Spec.VolumeName + " belongs to another claim, " + other
	case owner.UID != "" && owner.UID != o.UID:
		sentence = "PersistentVolume " + o.Spec.VolumeName + " still belongs to a deleted claim of this name"
	default:
		return nil
	}
	return s.inherit(verdict.Failed, "VolumeClaimed", sentence, &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: sentence})
}

// waitingClaim is the verdict on a claim that is bound only when a pod uses it.
func (s *subject) waitingClaim(class *neighbor.Neighbor) *verdict.Verdict {
	var pods []neighbor.Neighbor
	for _, n := range s.find(s.Users(s.ID, neighbor.Limit)) {
		if n.ID.Kind == podKind {
			pods = append(pods, n)
		}
	}
	s.readsIn(podsRef, s.ID.Namespace())
	if len(pods) == 0 {
		sentence := "Waits for the first pod that uses it, as StorageClass " + class.ID.Name() + " requires"
		return &verdict.Verdict{
			Severity: verdict.OK, Reason: "WaitForFirstConsumer", Sentence: sentence,
			Cause: &verdict.Cause{Object: neighbor.ObjectOf(class)},
		}
	}
	for n := range pods {
		p := neighbor.Decode[corev1.Pod](pods[n].Object)
		own := pods[n].Object.Verdict().Own().Unpack()
		if p.Spec.NodeName == "" && own.Severity.IsProblem() {
			return s.inherit(verdict.Degraded, own.Reason, "Waits for pod "+p.Name+": "+own.Why(),
				&verdict.Cause{Object: neighbor.ObjectOf(&pods[n]), Sentence: own.Why()})
		}
	}
	if message := s.lastEvent("ProvisioningFailed"); message != "" {
		return s.inherit(verdict.Failed, "ProvisioningFailed", message, nil)
	}
	return nil
}
