package storage

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Attachment explains a VolumeAttachment about which its attacher reports nothing: the attacher does not run.
func Attachment(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason != "NotAttached" {
		return nil
	}
	return subject.StoppedController(s, "attacher", neighbor.Decode[storage.VolumeAttachment](s.Object).Spec.Attacher)
}

// unattached explains a pod that waits for a volume by the attachment of the volume to the pod's node. If the event
// already contains the error of the attachment, it ignores the attachment, because more viewers may read events. Some
// clouds add a new ID to the error of each attempt, so it does not compare the errors.
func unattached(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := volumePattern.FindStringSubmatch(last.Message)
	if found == nil || last.Reason != "FailedAttachVolume" {
		return nil
	}
	volume := graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", volumeName(s, p, found[1]))
	kind := graph.Kind{Group: "storage.k8s.io", Kind: "VolumeAttachment"}
	for _, n := range s.Existing(s.Users(volume, neighbor.Limit)) {
		if n.ID.Kind != kind {
			continue
		}
		o := neighbor.Decode[storage.VolumeAttachment](n.Object)
		if o.Spec.NodeName != p.Spec.NodeName || o.Status.Attached {
			continue
		}
		subject.Follow(s, &n)
		e := o.Status.AttachError
		isInEvent := !n.Object.Verdict().IsInherited() && e != nil && !strings.Contains(last.Message, "timed out waiting")
		if !s.HasProblem(&n) || isInEvent {
			continue
		}
		s.AddSource(subject.EventsRef, last.Namespace)
		return s.Inherit(&n, verdict.Degraded, subject.Sentences(last.Message, n.String()+": "))
	}
	return nil
}
