package placement

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// withoutVolume is how the scheduler describes nodes on which a claim of the pod gets no volume.
const withoutVolume = "didn't find available persistent volumes to bind"

// LacksVolume reports whether a pod is unscheduled because a claim gets no volume on some nodes, and hasVolumes returns
// false for all nodes with the labels that the pod requires. Taints do not count, because those of a new or a failed
// node are temporary. LacksVolume returns false if not all nodes are known.
func LacksVolume(s *subject.Subject, p *corev1.Pod, hasVolumes func(*corev1.Node) bool) bool {
	if !strings.Contains(rejection(p), withoutVolume) {
		return false
	}
	required, _ := fit.RequiredLabels(p)
	nodes, ok := fit.NodesWith(s, required)
	return ok && !slices.ContainsFunc(nodes, func(n neighbor.Neighbor) bool {
		node := neighbor.Decode[corev1.Node](n.Object)
		return hasVolumes(&node)
	})
}
