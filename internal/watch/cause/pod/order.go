package pod

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// beforeServer explains a pod whose init container cannot connect to a port of the pod, because the only container that
// serves this port starts later: the kubelet starts it only after the init container has ended.
func beforeServer(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	port := connection.LocalPort(subject.CompleteSentence(s))
	if port == 0 || !s.Own.Severity.IsProblem() {
		return nil
	}
	at := slices.IndexFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.RestartPolicy == nil && strings.Contains(s.Own.Sentence, "nit container "+c.Name+": ")
	})
	all := slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
	server := slices.IndexFunc(all, func(c corev1.Container) bool { return subject.Serves(&c, port) })
	if at < 0 || server <= at {
		return nil
	}
	return subject.ExplainAlone(s, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
		"Container %s serves port %d, but starts only after init container %s", all[server].Name, port, all[at].Name)))
}
