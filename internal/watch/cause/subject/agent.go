package subject

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// IsNetworkPlugin reports whether a pod installs a network plugin on its node: the pod belongs to a DaemonSet, and
// mounts one of the folders in which container runtimes expect the configuration and the programs of such a plugin.
func IsNetworkPlugin(p *corev1.Pod) bool {
	isDaemon := slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
	return isDaemon && slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && (isBelow(v.HostPath.Path, "/etc/cni") || isBelow(v.HostPath.Path, "/opt/cni"))
	})
}

func isBelow(file, folder string) bool { return file == folder || strings.HasPrefix(file, folder+"/") }

// IsServiceProxy reports whether a pod runs kube-proxy, which forwards the connections of its node to Services.
func IsServiceProxy(p *corev1.Pod) bool {
	const program = "kube-proxy"
	return p.Spec.HostNetwork && slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == program || len(c.Command) > 0 && path.Base(c.Command[0]) == program
	})
}
