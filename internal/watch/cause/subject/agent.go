package subject

import (
	"path"
	"regexp"
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
	pods, ok := podsOn(s, node)
	if !ok {
		return nil
	}
	isFailed := false
	for _, n := range pods {
		p := neighbor.Decode[corev1.Pod](n.Object)
		if IsFinished(&p) || !isAgent(&p) {
			continue
		}
		Follow(s, &n)
		if agent != nil {
			return nil
		}
		agent, isFailed = &n, s.HasProblem(&n) && hasCrashed(&p) && !neighbor.IsReady(&p)
	}
	if !isFailed {
		return nil
	}
	return agent
}

// PodOnNode returns the pod of a DaemonSet on a node, or nil if the DaemonSet has no pod there. ok is false if this is
// not known.
func PodOnNode(s *Subject, set *neighbor.Neighbor, node string) (pod *neighbor.Neighbor, ok bool) {
	pods, ok := podsOn(s, node)
	for _, n := range pods {
		if n.ID.Namespace() != set.ID.Namespace() || !n.IsOwnedBy(set.Object.UID()) {
			continue
		}
		if p := neighbor.Decode[corev1.Pod](n.Object); !IsFinished(&p) {
			return &n, true
		}
	}
	return nil, ok
}

// podsOn returns the pods on a node. ok is false if not all of them are known.
func podsOn(s *Subject, node string) (pods []neighbor.Neighbor, ok bool) {
	kind := graph.Kind{Kind: "Pod"}
	ids, isComplete := UsersOf(s, graph.NewID(graph.Kind{Kind: "Node"}, "", node), maxOnNode)
	if node == "" || !isComplete || !KnowsAll(s, kind, "") {
		return nil, false
	}
	isOther := func(id graph.ID) bool { return id.Kind != kind }
	return s.Existing(slices.DeleteFunc(ids, isOther)), true
}

// hasCrashed reports whether a container of a pod does not start, has failed, or failed before it was started again.
func hasCrashed(p *corev1.Pod) bool {
	return HasFailedContainer(p) || slices.ContainsFunc(ends(p), func(t *corev1.ContainerStateTerminated) bool {
		return t.ExitCode != 0
	})
}

// IsNetworkPlugin reports whether a pod installs a network plugin on its node. The pod belongs to a DaemonSet. It
// mounts one of the folders in which container runtimes expect the configuration and the programs of such a plugin, or
// the name of a container states that it installs them. Plugins that only extend another plugin do not count, because
// they fail without the other one.
func IsNetworkPlugin(p *corev1.Pod) bool {
	isDaemon := slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
	all := slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
	isChained := slices.ContainsFunc(all, func(c corev1.Container) bool {
		return chainedPlugin.MatchString(c.Name) || chainedPlugin.MatchString(c.Image)
	})
	isInstaller := func(c corev1.Container) bool { return strings.HasPrefix(c.Name, "install-cni") }
	return isDaemon && !isChained && (slices.ContainsFunc(all, isInstaller) ||
		slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.HostPath != nil && (isBelow(v.HostPath.Path, "/etc/cni") || isBelow(v.HostPath.Path, "/opt/cni"))
		}))
}

var chainedPlugin = regexp.MustCompile(`multus|whereabouts|(istio|linkerd)[a-z/-]*cni`)

func isBelow(file, folder string) bool { return file == folder || strings.HasPrefix(file, folder+"/") }

// IsServiceProxy reports whether a pod forwards the connections of its node to Services: it runs kube-proxy, or a
// program that can replace kube-proxy.
func IsServiceProxy(p *corev1.Pod) bool {
	programs := []string{"kube-proxy", "cilium-agent", "kube-router", "antrea-agent", "ovnkube-node", "ovnkube-controller"}
	return p.Spec.HostNetwork && slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		return slices.Contains(programs, c.Name) ||
			len(c.Command) > 0 && slices.Contains(programs, path.Base(c.Command[0]))
	})
}
