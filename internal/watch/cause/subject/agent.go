package subject

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// FailedAgent returns the only pod of a node for which isAgent returns true, if a container of this pod fails. If
// several pods can be the agent, or the agent works, FailedAgent returns nil.
func FailedAgent(s *Subject, node string, isAgent func(*corev1.Pod) bool) (agent *neighbor.Neighbor) {
	kind := graph.Kind{Kind: "Pod"}
	ids := s.Users(graph.NewID(graph.Kind{Kind: "Node"}, "", node), maxOnNode)
	if node == "" || len(ids) == maxOnNode || !KnowsAll(s, kind, "") {
		return nil
	}
	isFailed := false
	for _, id := range ids {
		n := s.Find(id)
		if id.Kind != kind || n.Object == nil {
			continue
		}
		p := neighbor.Decode[corev1.Pod](n.Object)
		if IsFinished(&p) || !isAgent(&p) {
			continue
		}
		Follow(s, &n)
		if agent != nil {
			return nil
		}
		agent, isFailed = &n, s.HasProblem(&n) && HasFailedContainer(&p) && !neighbor.IsReady(&p)
	}
	if !isFailed {
		return nil
	}
	return agent
}

// IsServiceProxy reports whether a pod runs kube-proxy, which forwards the connections of its node to Services.
func IsServiceProxy(p *corev1.Pod) bool {
	const program = "kube-proxy"
	return p.Spec.HostNetwork && slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == program || len(c.Command) > 0 && path.Base(c.Command[0]) == program
	})
}
