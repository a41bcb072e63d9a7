package cause

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// unfitVolume explains a claim by a volume of its class that does not fit, if no volume of the class fits. hasClass is
// true if there are volumes of the class.
func unfitVolume(s *subject.Subject, o *corev1.PersistentVolumeClaim) (v *verdict.Verdict, hasClass bool) {
	for _, n := range s.All(graph.Kind{Kind: "PersistentVolume"}, "", neighbor.Limit) {
		volume := neighbor.Decode[corev1.PersistentVolume](n.Object)
		if !isCandidate(o, &volume) {
			continue
		}
		hasClass = true
		sentence, isFree := misfit(o, &volume)
		if isFree && sentence == "" {
			return nil, true
		}
		if isFree {
			v = s.ExplainBy(&n, verdict.Failed, "VolumeMismatch", sentence)
		}
	}
	return v, hasClass
}

// isCandidate reports whether a volume has the class of the claim, and the claim names this volume or none.
func isCandidate(claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) bool {
	class := claim.Spec.StorageClassName
	return (claim.Spec.VolumeName == "" || claim.Spec.VolumeName == v.Name) &&
		class != nil && *class != "" && *class == v.Spec.StorageClassName
}

// misfit returns what the claim requests and the volume does not have, or "". isFree is false if the volume is not
// available, because another claim can have it.
func misfit(claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (sentence string, isFree bool) {
	if v.Status.Phase != corev1.VolumeAvailable {
		return "", false
	}
	for _, mode := range claim.Spec.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, mode) {
			return fmt.Sprintf("PersistentVolume %s does not have the access mode %s", v.Name, mode), true
		}
	}
	has, wants := v.Spec.Capacity[corev1.ResourceStorage], claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if has.Cmp(wants) < 0 {
		return fmt.Sprintf(
			"PersistentVolume %s has only %s, and the claim needs %s", v.Name, has.String(), wants.String(),
		), true
	}
	if claim.Spec.VolumeMode != nil && v.Spec.VolumeMode != nil && *claim.Spec.VolumeMode != *v.Spec.VolumeMode {
		return fmt.Sprintf("PersistentVolume %s does not have the volume mode %s", v.Name, *claim.Spec.VolumeMode), true
	}
	return "", true
}
