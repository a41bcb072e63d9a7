package node

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// withoutAgent explains a node that keeps the taint of an agent which does not run yet, by the failed pod of this agent
// on the node. The key of the taint contains the domain of the agent, as in node.cilium.io/agent-not-ready.
func withoutAgent(s *subject.Subject) *verdict.Verdict {
	for _, taint := range neighbor.Decode[corev1.Node](s.Object).Spec.Taints {
		domain, ok := strings.CutSuffix(taint.Key, "/agent-not-ready")
		if !ok || !strings.Contains(s.Own.Sentence, taint.Key) {
			continue
		}
		isAgent := func(p *corev1.Pod) bool { return belongsTo(p, domain) }
		if agent := subject.FailedAgent(s, s.ID.Name(), isAgent); agent != nil {
			return uninitializedBy(s, agent)
		}
	}
	return nil
}

// belongsTo reports whether a pod is the agent of a domain: it registers the CSI driver with this name, or installs the
// network plugin of the project with this domain, such as cilium for node.cilium.io.
func belongsTo(p *corev1.Pod, domain string) bool {
	labels := strings.Split(domain, ".")
	project := labels[max(0, len(labels)-2)]
	return subject.IsController(p.Spec.Containers, "registrar", domain) || isPluginOf(p, project)
}

// isPluginOf reports whether a pod installs the network plugin of a project, such as cilium.
func isPluginOf(p *corev1.Pod, project string) bool {
	return subject.IsNetworkPlugin(p) && slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		return strings.Contains(c.Name, project) || strings.Contains(c.Image, project)
	})
}
