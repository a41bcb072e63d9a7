package storage

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// optionError matches an error about an option of a mount. It does not match errors that also have other reasons:
// "wrong fs type, bad option, bad superblock", such as a missing program on the node, and "requested NFS version or
// transport protocol is not supported", such as a stopped server.
var optionError = regexp.MustCompile(`(?i)\b(?:incorrect|invalid|illegal|unknown|unrecognized|unsupported) ` +
	`mount options?\b|\bmount options?\b[^.;]{0,60}(?:\bnot|n't) (?:be )?(?:supported?|allowed|valid|recognized)\b|` +
	`\bnot support (?:\w+ )?mount options?\b|\b(?:fsconfig)\b.{0,60}\bunknown parameter\b`)

// wrongOption explains a pod by a PersistentVolume that has mount options, if the message of an event states that a
// mount fails because of an option. Otherwise, it returns nil.
func wrongOption(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := volumePattern.FindStringSubmatch(last.Message)
	if found == nil || !optionError.MatchString(last.Message) {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", volumeName(s, p, found[1])))
	volume := neighbor.Decode[corev1.PersistentVolume](n.Object)
	owner, options := volume.Spec.ClaimRef, volume.Spec.MountOptions
	if len(options) == 0 || owner == nil || owner.Namespace != s.ID.Namespace() {
		return nil
	}
	subject.Follow(s, &n)
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.ExplainBy(&n, verdict.Degraded, last.Reason, strings.TrimRight(last.Message, " .\n")+". "+n.String()+
		" has the mount options "+strings.Join(options, ", "))
}

// volumeName returns the name of the PersistentVolume that an event is about. The parameter name is the name in the
// event: that of the PersistentVolume, or that of the volume in the spec of the pod.
func volumeName(s *subject.Subject, p *corev1.Pod, name string) string {
	for _, v := range p.Spec.Volumes {
		if v.Name != name || v.PersistentVolumeClaim == nil {
			continue
		}
		name = v.PersistentVolumeClaim.ClaimName
		claim := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolumeClaim"}, p.Namespace, name))
		return neighbor.Decode[corev1.PersistentVolumeClaim](claim.Object).Spec.VolumeName
	}
	return name
}

// refusedOption returns the storage class of a claim as the cause, if the class has mount options, and the message of
// an event states that the provisioner refuses mount options. Otherwise, it returns nil.
func refusedOption(s *subject.Subject, message string) *verdict.Cause {
	name := neighbor.Decode[corev1.PersistentVolumeClaim](s.Object).Spec.StorageClassName
	if name == nil || !optionError.MatchString(message) {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}, "", *name))
	if len(neighbor.Decode[storage.StorageClass](n.Object).MountOptions) == 0 {
		return nil
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: message}
}
