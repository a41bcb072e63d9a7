package storage

import (
	"cmp"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	// refusal matches an error of a storage server that refuses the credentials of a node. For SMB, mount reports the
	// error 13: permission denied.
	refusal = regexp.MustCompile(`(?i)\bpermission denied\b|\b(?:NT_STATUS_)?LOGON_FAILURE\b|` +
		`\b(?:authentication|login|logon) ?(?:failed|failure|error)\b|\bunauthorized\b|` +
		`\b(?:invalid|incorrect|wrong|expired) (?:credentials?|password|[a-z]+ key|token)\b|` +
		`\b(?:InvalidAccessKeyId|SignatureDoesNotMatch)\b`)
	// localRefusal matches an error about a file of the node.
	localRefusal = regexp.MustCompile(`(?i)\b(?:mkdir|l?chown|chmod|open|l?stat|read|write|remove|unlink(?:at)?|rename|` +
		`symlink|mknod|fork/exec) \S+: permission denied\b`)
)

// refusedCredentials explains a pod by the Secret with the credentials for a volume, if the server of the volume
// refuses them.
func refusedCredentials(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := volumePattern.FindStringSubmatch(last.Message)
	if found == nil || last.Reason != "FailedMount" || !refusal.MatchString(last.Message) ||
		localRefusal.MatchString(last.Message) {
		return nil
	}
	secret, volume := mountSecret(s, p, found[1], strings.Contains(last.Message, ".MountDevice "))
	n := s.Find(graph.NewID(graph.Kind{Kind: "Secret"}, secret.Namespace, secret.Name))
	if secret.Name == "" || n.Object == nil {
		return nil
	}
	subject.Follow(s, &n)
	s.AddSource(subject.EventsRef, last.Namespace)
	of := "volume " + found[1]
	if volume != nil {
		subject.Follow(s, volume)
		s.AddSource("core/v1/persistentvolumeclaims", s.ID.Namespace())
		s.AddSource(volume.Resource, "")
		of = volume.String()
	}
	return s.ExplainBy(&n, verdict.Degraded, last.Reason, subject.Sentences(strings.TrimRight(last.Message, " .\n"),
		s.Name(&n)+" contains the credentials for "+of))
}

// mountSecret returns the Secret with the credentials for the mount of a volume that an event names, or an empty
// reference. The volume is one in the spec of the pod, or a PersistentVolume. In the first case, volume is nil. A CSI
// driver can use one Secret to mount a device (isDevice), and another one to publish it to a pod.
func mountSecret(
	s *subject.Subject, p *corev1.Pod, name string, isDevice bool,
) (secret corev1.SecretReference, volume *neighbor.Neighbor) {
	for n := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[n]; v.Name == name && v.PersistentVolumeClaim == nil {
			return corev1.SecretReference{Name: inlineSecret(v), Namespace: s.ID.Namespace()}, nil
		}
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", volumeName(s, p, name)))
	spec := neighbor.Decode[corev1.PersistentVolume](n.Object).Spec
	if spec.ClaimRef == nil || spec.ClaimRef.Namespace != s.ID.Namespace() {
		return secret, nil
	}
	var found *corev1.SecretReference
	switch {
	case spec.CSI != nil && isDevice:
		found = spec.CSI.NodeStageSecretRef
	case spec.CSI != nil:
		found = spec.CSI.NodePublishSecretRef
	case spec.AzureFile != nil:
		found = &corev1.SecretReference{Name: spec.AzureFile.SecretName, Namespace: s.ID.Namespace()}
		if spec.AzureFile.SecretNamespace != nil {
			found.Namespace = *spec.AzureFile.SecretNamespace
		}
	case spec.CephFS != nil:
		found = spec.CephFS.SecretRef
	case spec.RBD != nil:
		found = spec.RBD.SecretRef
	case spec.FlexVolume != nil:
		found = spec.FlexVolume.SecretRef
	}
	if found == nil {
		return secret, nil
	}
	found.Namespace = cmp.Or(found.Namespace, s.ID.Namespace())
	return *found, &n
}

// inlineSecret returns the name of the Secret with the credentials for a volume in the spec of a pod, or "".
func inlineSecret(v *corev1.Volume) string {
	var found *corev1.LocalObjectReference
	switch {
	case v.CSI != nil:
		found = v.CSI.NodePublishSecretRef
	case v.AzureFile != nil:
		return v.AzureFile.SecretName
	case v.CephFS != nil:
		found = v.CephFS.SecretRef
	case v.RBD != nil:
		found = v.RBD.SecretRef
	case v.FlexVolume != nil:
		found = v.FlexVolume.SecretRef
	}
	if found == nil {
		return ""
	}
	return found.Name
}
