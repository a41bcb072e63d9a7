package cause

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// claim explains why a PersistentVolumeClaim is not bound.
func claim(s *subject.Subject) *verdict.Verdict {
	o := neighbor.Decode[corev1.PersistentVolumeClaim](s.Object)
	if s.Own.Severity == verdict.None || s.Own.Reason == terminating {
		return nil
	}
	if o.Status.Phase == corev1.ClaimBound {
		return unmodifiedClaim(s, &o)
	}
	target := s.FirstMissing(func(u *graph.Use) bool {
		return slices.Contains([]string{"StorageClass", "VolumeAttributesClass", "PersistentVolume"}, u.Target.Kind.Kind)
	})
	unfit, hasVolumes := unfitVolume(s, &o)
	// An administrator can create volumes for a class that does not exist.
	isStatic := hasVolumes && (o.Spec.VolumeName != "" || target != nil && target.ID.Kind.Kind == "StorageClass")
	if target != nil && !isStatic {
		return s.ReportMissing(target, verdict.Failed)
	}
	if source := s.FirstMissing(subject.In("spec.dataSource")); source != nil && source.Resource != "" {
		return s.ReportMissing(source, verdict.Failed)
	}
	if v := claimedVolume(s, &o); v != nil {
		return v
	}
	if unfit != nil && isStatic {
		return unfit
	}
	className, isClassUnknown := o.Spec.StorageClassName, false
	if className != nil && *className != "" && o.Spec.VolumeName == "" {
		n := s.Find(graph.NewID(graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}, "", *className))
		class := neighbor.Decode[storage.StorageClass](n.Object)
		if class.VolumeBindingMode != nil && *class.VolumeBindingMode == storage.VolumeBindingWaitForFirstConsumer {
			return waitingClaim(s, &n)
		}
		isClassUnknown = n.Presence == neighbor.Unknown
		s.AddSource(n.Resource, n.ID.Namespace())
	}
	if v := provisioningFailure(s, "ProvisioningFailed", "FailedBinding", "VolumeMismatch"); v != nil {
		return v
	}
	if isClassUnknown {
		return nil // Possibly, the claim waits for a pod.
	}
	return overdueClaim(s)
}

// provisioningFailure explains a claim by the newest event with one of the reasons.
func provisioningFailure(s *subject.Subject, reasons ...string) *verdict.Verdict {
	message := s.EventMessage(reasons...)
	if message == "" {
		return nil
	}
	return s.Explain(verdict.Failed, "ProvisioningFailed", message, nil)
}

// overdueClaim is the verdict on a claim that is not bound in time, if nothing explains that. The claim alone is no
// problem, because its storage class can wait for a pod.
func overdueClaim(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason != "NotBound" || s.Own.Severity.IsProblem() {
		return nil
	}
	problem, _, _ := strings.Cut(s.Own.Sentence, ": ")
	return s.Explain(verdict.Failed, s.Own.Reason, problem+": no volume matches it, or its provisioner does not run", nil)
}

// claimedVolume explains a claim that names a volume which belongs to another claim, or to a deleted one.
func claimedVolume(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
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
		sentence = n.String() + " belongs to another claim, " + owner.Namespace + "/" + owner.Name
	case owner.UID != "" && owner.UID != o.UID:
		sentence = n.String() + " still belongs to a deleted claim of this name"
	default:
		return nil
	}
	return s.ExplainBy(&n, verdict.Failed, "VolumeClaimed", sentence)
}

// waitingClaim is the verdict on a claim that is bound only when a pod uses it.
func waitingClaim(s *subject.Subject, class *neighbor.Neighbor) *verdict.Verdict {
	var pods []neighbor.Neighbor
	for _, n := range s.Existing(s.Users(s.ID, neighbor.Limit)) {
		if n.ID.Kind == (graph.Kind{Kind: "Pod"}) {
			pods = append(pods, n)
		}
	}
	s.AddSource(subject.PodsRef, s.ID.Namespace())
	if len(pods) == 0 {
		return &verdict.Verdict{
			Severity: verdict.OK, Reason: "WaitForFirstConsumer",
			Sentence: "Waits for the first pod that uses it, as " + class.String() + " requires",
			Cause:    &verdict.Cause{Object: neighbor.ObjectOf(class)},
		}
	}
	for n := range pods {
		p := neighbor.Decode[corev1.Pod](pods[n].Object)
		own := pods[n].Object.Verdict().Own().Unpack()
		if p.Spec.NodeName == "" && own.Severity.IsProblem() {
			return s.Explain(verdict.Degraded, own.Reason, "Waits for pod "+p.Name+": "+own.Why(),
				&verdict.Cause{Object: neighbor.ObjectOf(&pods[n]), Sentence: own.Why()})
		}
	}
	if v := provisioningFailure(s, "ProvisioningFailed"); v != nil {
		return v
	}
	for n := range pods {
		if pods[n].Object.Verdict().Own().Severity().IsProblem() {
			return overdueClaim(s) // The pod has waited for too long, too.
		}
	}
	return nil
}
