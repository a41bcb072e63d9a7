// Package pull explains why images cannot be pulled: their registry in the cluster does not run, or refuses the pull
// Secrets of the pod.
package pull

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Failure explains a pod whose image cannot be pulled.
func Failure(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !slices.Contains([]string{"ErrImagePull", "ImagePullBackOff"}, s.Own.Reason) {
		return nil
	}
	if v := stoppedRegistry(s, p); v != nil {
		return v
	}
	if v := unusedSecret(s); v != nil {
		return v
	}
	return outdatedSecret(s)
}
