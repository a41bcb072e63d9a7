package placement

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// withoutVolume is how the scheduler describes nodes on which a claim of the pod gets no volume.
const withoutVolume = "didn't find available persistent volumes to bind"

// IsOutside reports whether a pod is unscheduled because no node with the labels that the pod requires is in one of the
// topologies, such as zones, to which a StorageClass restricts its volumes. Taints do not count, because those of a new
// or a failed node are temporary. IsOutside returns false if not all nodes are known.
func IsOutside(s *subject.Subject, p *corev1.Pod, topologies []corev1.TopologySelectorTerm) bool {
	if len(topologies) == 0 || !strings.Contains(rejection(p), withoutVolume) {
		return false
	}
	nodes := s.All(nodeKind, "", maxNodes)
	if len(nodes) == maxNodes || !subject.KnowsAll(s, nodeKind, "") {
		return false
	}
	required, _ := requiredLabels(p)
	return !slices.ContainsFunc(nodes, func(n neighbor.Neighbor) bool {
		node := neighbor.Decode[corev1.Node](n.Object)
		return hasLabels(&node, required) && isIn(&node, topologies)
	})
}

// isIn reports whether a node has the labels of one of the topologies.
func isIn(node *corev1.Node, topologies []corev1.TopologySelectorTerm) bool {
	return slices.ContainsFunc(topologies, func(t corev1.TopologySelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchLabelExpressions, func(r corev1.TopologySelectorLabelRequirement) bool {
			value, ok := node.Labels[r.Key]
			return !ok || !slices.Contains(r.Values, value)
		})
	})
}
