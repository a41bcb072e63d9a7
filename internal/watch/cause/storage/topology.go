package storage

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/placement"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// outsideTopologies explains a claim that waits for an unscheduled pod, by its StorageClass: the class restricts its
// volumes to topologies in which no node suits the pod. If an existing volume fits the claim, the class is in order.
func outsideTopologies(
	s *subject.Subject, o *corev1.PersistentVolumeClaim, n *neighbor.Neighbor, p *corev1.Pod,
) *verdict.Verdict {
	class := neighbor.Decode[storage.StorageClass](n.Object)
	if len(class.AllowedTopologies) == 0 || class.Provisioner == withoutProvisioning || !placement.LacksVolume(s, p,
		func(node *corev1.Node) bool { return isIn(node, class.AllowedTopologies) }) || hasFreeVolume(s, o) {
		return nil
	}
	subject.Follow(s, n)
	s.AddSource("core/v1/nodes", "")
	s.AddSource(subject.PodsRef, s.ID.Namespace())
	return s.ExplainBy(n, verdict.Degraded, corev1.PodReasonUnschedulable, fmt.Sprintf(
		"%s allows volumes only in %s, but pod %s cannot run on any node there", n, places(class.AllowedTopologies), p.Name))
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

// withoutProvisioning is the provisioner of a class whose volumes an administrator creates.
const withoutProvisioning = "kubernetes.io/no-provisioner"

// hasFreeVolume reports whether a volume fits a claim. It also returns true if not all volumes are known.
func hasFreeVolume(s *subject.Subject, o *corev1.PersistentVolumeClaim) bool {
	kind := graph.Kind{Kind: "PersistentVolume"}
	volumes, isComplete := subject.AllOf(s, kind, "", maxVolumes)
	return !isComplete || slices.ContainsFunc(volumes, func(n neighbor.Neighbor) bool {
		volume := neighbor.Decode[corev1.PersistentVolume](n.Object)
		sentence, isFree := misfit(o, &volume)
		return isCandidate(o, &volume) && isFree && sentence == ""
	})
}

// maxVolumes limits the volumes that are searched for one that fits a claim.
const maxVolumes = 10 * neighbor.Limit

// places describes topologies, such as "topology.kubernetes.io/zone a, b".
func places(topologies []corev1.TopologySelectorTerm) string {
	var all []string
	for _, t := range topologies {
		var parts []string
		for _, r := range t.MatchLabelExpressions {
			parts = append(parts, r.Key+" "+strings.Join(r.Values, ", "))
		}
		all = append(all, strings.Join(parts, " and "))
	}
	return strings.Join(all, ", or ")
}
