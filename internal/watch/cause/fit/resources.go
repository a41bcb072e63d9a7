package fit

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

//nolint:gochecknoglobals // Constant.
var podKind = graph.Kind{Kind: "Pod"}

// maxPods limits the pods of a node that are read.
const maxPods = 5 * neighbor.Limit

// Request returns how much of a resource the containers of a pod request.
func Request(p *corev1.Pod, name corev1.ResourceName) (sum resource.Quantity) {
	for n := range p.Spec.Containers {
		sum.Add(p.Spec.Containers[n].Resources.Requests[name])
	}
	return sum
}

// NeedsOnlyResources reports whether a pod fits on each node that has certain labels and enough resources, and whose
// taints the pod tolerates. It returns false if something else restricts the pod, such as a volume or an affinity.
func NeedsOnlyResources(p *corev1.Pod) bool {
	_, isComplete := RequiredLabels(p)
	isRelated := p.Spec.Affinity != nil && (p.Spec.Affinity.PodAffinity != nil || p.Spec.Affinity.PodAntiAffinity != nil)
	isClaim := func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }
	return isComplete && !isRelated && len(p.Spec.TopologySpreadConstraints) == 0 && len(HostPorts(p)) == 0 &&
		len(p.Spec.ResourceClaims) == 0 && !slices.ContainsFunc(p.Spec.Volumes, isClaim)
}

// HostPorts returns the host ports that a pod uses.
func HostPorts(p *corev1.Pod) (ports []corev1.ContainerPort) {
	for n := range p.Spec.Containers {
		for _, declared := range p.Spec.Containers[n].Ports {
			declared.Protocol = cmp.Or(declared.Protocol, corev1.ProtocolTCP)
			if declared.HostPort != 0 {
				ports = append(ports, declared)
			}
		}
	}
	return ports
}

// HasRoom reports whether a node has enough resources for one more pod. It returns false if possibly not all pods of
// the node are known, if one of them is being deleted, or if more than the containers of a pod request resources.
func HasRoom(s *subject.Subject, p *corev1.Pod, node *corev1.Node) bool {
	ids, isComplete := subject.UsersOf(s, graph.NewID(nodeKind, "", node.Name), maxPods)
	if !isComplete || !subject.KnowsAll(s, podKind, "") {
		return false
	}
	pods := []corev1.Pod{*p}
	for _, n := range s.Existing(slices.DeleteFunc(ids, func(id graph.ID) bool { return id.Kind != podKind })) {
		other := neighbor.Decode[corev1.Pod](n.Object)
		if other.DeletionTimestamp != nil {
			return false
		}
		if !subject.IsFinished(&other) {
			pods = append(pods, other)
		}
	}
	if slices.ContainsFunc(pods, requestsMore) {
		return false
	}
	for n := range p.Spec.Containers {
		for name := range p.Spec.Containers[n].Resources.Requests {
			free := node.Status.Allocatable[name].DeepCopy()
			for i := range pods {
				free.Sub(Request(&pods[i], name))
			}
			if free.Sign() < 0 {
				return false
			}
		}
	}
	return int64(len(pods)) <= node.Status.Allocatable.Pods().Value()
}

// requestsMore reports whether a pod possibly requests more than the sum of its containers.
func requestsMore(p corev1.Pod) bool {
	return len(p.Spec.Overhead) > 0 || slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return len(c.Resources.Requests) > 0
	})
}
