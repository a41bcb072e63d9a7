package storage

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// unfitVolume returns a verdict if no volume of the claim's class fits the claim. The verdict names a volume that does
// not fit. If not all volumes are known, there is no verdict. hasClass is true if there are volumes of the class.
func unfitVolume(s *subject.Subject, o *corev1.PersistentVolumeClaim) (v *verdict.Verdict, hasClass bool) {
	kind, class := graph.Kind{Kind: "PersistentVolume"}, []byte(`"`+ptr.Deref(o.Spec.StorageClassName, "")+`"`)
	all, isComplete := s.Existing([]graph.ID{graph.NewID(kind, "", o.Spec.VolumeName)}), true
	if o.Spec.VolumeName == "" {
		all, isComplete = subject.AllOf(s, kind, "", maxVolumes)
	}
	for _, n := range all {
		if text, _ := n.Object.JSON(); !bytes.Contains(text, class) {
			continue // This is so for most volumes, so do not decode them.
		}
		volume := neighbor.Decode[corev1.PersistentVolume](n.Object)
		if !isCandidate(o, &volume) {
			continue
		}
		hasClass = true
		sentence, isFree := misfit(o, &volume)
		if isFree && sentence == "" {
			return nil, true
		}
		if isFree && isComplete {
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

// misfit returns a sentence about what the volume lacks for the claim, or "" if it lacks nothing. isFree is false if
// the phase of the volume is not Available, because another claim possibly uses it.
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

// usersOf returns the pods that use a claim, sorted by name.
func usersOf(s *subject.Subject) (pods []neighbor.Neighbor) {
	for _, n := range s.Existing(s.Users(s.ID, neighbor.Limit)) {
		if n.ID.Kind == (graph.Kind{Kind: "Pod"}) {
			pods = append(pods, n)
		}
	}
	slices.SortFunc(pods, func(a, b neighbor.Neighbor) int { return cmp.Compare(a.ID.Key, b.ID.Key) })
	s.AddSource(subject.PodsRef, s.ID.Namespace())
	return pods
}

// boundClaim explains why a change of a bound claim does not reach its volume.
func boundClaim(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	if v := unmodifiedClaim(s, o); v != nil {
		return v
	}
	if v := notResizedClaim(s, o); v != nil {
		return v
	}
	return notExpandedClaim(s, o)
}

// notExpandedClaim reports a claim whose volume stays smaller than requested, because no controller expands it.
// Kubernetes leaves this to the resizer of the CSI driver, and reports in an event of type Normal that it waits.
func notExpandedClaim(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	has, wants := o.Status.Capacity[corev1.ResourceStorage], o.Spec.Resources.Requests[corev1.ResourceStorage]
	if has.IsZero() || has.Cmp(wants) >= 0 || len(o.Status.Conditions) > 0 {
		return nil
	}
	last := s.NewestEvent(func(e *corev1.Event) bool { return e.Reason == "ExternalExpanding" })
	if last == nil {
		return nil
	}
	// The controller counts all events of this kind, so only the last one is about the present request.
	since := neighbor.EventTime(last)
	if changed := s.Object.ManagedTime(); changed.After(since) {
		since = changed
	}
	if !subject.HasPassed(s, since.Add(subject.SettleTime)) {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	effect := fmt.Sprintf("Has %s, but requests %s: no controller expands the volume", has.String(), wants.String())
	if all := expanders(s, provisionerOf(o)); len(all) == 1 {
		if v := subject.StoppedWorkload(s, all, effect); v != nil {
			return v
		}
	}
	return s.Explain(verdict.Degraded, "NotExpanded", effect, nil)
}

// commonWords are parts of the names of drivers that do not identify a driver.
var commonWords = regexp.MustCompile(`^(?:csi|driver|disk|block|file|fsx|nas|local|io|storage)$`)

// expanders returns the workloads that expand the volumes of a driver. If their settings do not contain the complete
// name of the driver, such as ebs.csi.aws.com, expanders searches the names of their images for its first part.
func expanders(s *subject.Subject, driver string) []neighbor.Neighbor {
	word, _, _ := strings.Cut(driver, ".")
	if driver == "" {
		return nil
	}
	all, isComplete := subject.Workloads(s, func(c []corev1.Container) bool {
		return subject.IsController(c, "resizer", driver) || !commonWords.MatchString(word) && isResizer(c, word)
	}, "resizer")
	if !isComplete {
		return nil
	}
	return all
}

// isResizer reports whether one of the containers expands volumes, and whether the name of an image contains the word.
func isResizer(containers []corev1.Container, word string) bool {
	isSeparator := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return slices.ContainsFunc(containers, func(c corev1.Container) bool { return strings.Contains(c.Name, "resizer") }) &&
		slices.ContainsFunc(containers, func(c corev1.Container) bool {
			return slices.Contains(strings.FieldsFunc(path.Base(c.Image), isSeparator), word)
		})
}

// notResizedClaim reports a claim whose volume is larger now, but whose file system is not, although a pod uses the
// claim. The node resizes the file system within minutes if the driver can do that while the volume is in use. A claim
// that no pod uses has no problem: the node resizes the file system when a pod next uses the volume.
func notResizedClaim(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	at := slices.IndexFunc(o.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
		return c.Type == corev1.PersistentVolumeClaimFileSystemResizePending && c.Status == corev1.ConditionTrue
	})
	has, wants := o.Status.Capacity[corev1.ResourceStorage], o.Spec.Resources.Requests[corev1.ResourceStorage]
	if at < 0 || has.Cmp(wants) >= 0 {
		return nil
	}
	since := o.Status.Conditions[at].LastTransitionTime.Time
	if since.IsZero() || !subject.HasPassed(s, since.Add(subject.SettleTime)) {
		return nil
	}
	for _, n := range usersOf(s) {
		p := neighbor.Decode[corev1.Pod](n.Object)
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil || p.Status.StartTime == nil {
			continue
		}
		problem := "was not resized when pod " + p.Name + " started"
		if p.Status.StartTime.Time.Before(since) {
			problem = "will be resized when pod " + p.Name + " restarts"
		}
		return s.Explain(verdict.Degraded, string(corev1.PersistentVolumeClaimFileSystemResizePending),
			fmt.Sprintf("Has %s, but requests %s: the file system %s", has.String(), wants.String(), problem), nil)
	}
	return nil
}

// unmodifiedClaim reports a bound claim whose volume cannot be modified, because its VolumeAttributesClass does not
// exist. Other fields of a bound claim, such as its storage class, do not matter any more.
func unmodifiedClaim(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	target := s.FirstMissing(subject.In("spec.volumeAttributesClassName"))
	if target == nil || target.Resource == "" {
		return nil
	}
	current := o.Status.CurrentVolumeAttributesClassName
	if current != nil && *current == target.ID.Name() {
		return nil // The volume already has the attributes of the class, which was deleted afterward.
	}
	v := s.ReportMissing(target, verdict.Degraded)
	v.Sentence = fmt.Sprintf("Volume %s is not modified: %s", cmp.Or(o.Spec.VolumeName, "of the claim"), v.Sentence)
	return v
}
