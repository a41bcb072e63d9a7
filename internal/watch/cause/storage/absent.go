package storage

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// absentPattern matches the text after the name of a folder or of a disk that does not exist.
var absentPattern = regexp.MustCompile(`(?i)^["'\)\]]*[:,]?\s*(?:failed, reason given by server: )?` +
	`(?:(?:does not|doesn't) exist|(?:was |is |could )?not (?:be )?found|no such file or directory|` +
	`(?:is )?not a (?:block device|directory))\b`)

// absentStorage explains a pod by a PersistentVolume that names a folder or a disk which does not exist.
func absentStorage(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := volumePattern.FindStringSubmatch(last.Message)
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", volumeName(s, p, found[1])))
	volume := neighbor.Decode[corev1.PersistentVolume](n.Object)
	owner, place := volume.Spec.ClaimRef, placeOf(&volume)
	if owner == nil || owner.Namespace != s.ID.Namespace() || !isAbsent(last.Message, place) {
		return nil
	}
	subject.Follow(s, &n)
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.ExplainBy(&n, verdict.Degraded, last.Reason, last.Message)
}

// placeOf returns the folder or the disk that contains the data of a volume, or "".
func placeOf(v *corev1.PersistentVolume) string {
	switch {
	case v.Spec.Local != nil:
		return v.Spec.Local.Path
	case v.Spec.HostPath != nil:
		return v.Spec.HostPath.Path
	case v.Spec.NFS != nil:
		return v.Spec.NFS.Server + ":" + v.Spec.NFS.Path
	case v.Spec.CSI == nil:
		return ""
	case v.Spec.CSI.VolumeAttributes["server"] != "":
		return v.Spec.CSI.VolumeAttributes["server"] + ":" + v.Spec.CSI.VolumeAttributes["share"]
	}
	return v.Spec.CSI.VolumeHandle
}

// isAbsent reports whether a message states that a folder or a disk does not exist.
func isAbsent(message, place string) bool {
	if len(place) < 2 {
		return false // The root folder always exists.
	}
	for n := 0; ; n += len(place) {
		at := strings.Index(message[n:], place)
		if at < 0 {
			return false
		}
		n += at
		isStart := n == 0 || strings.ContainsRune(` "'(=:[`, rune(message[n-1]))
		if isStart && absentPattern.MatchString(message[n+len(place):]) {
			return true
		}
	}
}
