package node

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// cloudTaint is the taint that only the cloud controller manager of the cluster removes from a new node.
const cloudTaint = "node.cloudprovider.kubernetes.io/uninitialized"

// withoutCloud explains a node that keeps the taint of an uninitialized node, by the failed cloud controller manager of
// the cluster. If there are several, or possibly further ones, withoutCloud returns nil.
func withoutCloud(s *subject.Subject) *verdict.Verdict {
	isTaint := func(t corev1.Taint) bool { return t.Key == cloudTaint }
	if !slices.ContainsFunc(neighbor.Decode[corev1.Node](s.Object).Spec.Taints, isTaint) {
		return nil
	}
	managers, ok := subject.Workloads(s, func(all []corev1.Container) bool { return slices.ContainsFunc(all, isManager) },
		"cloud-controller-manager", "cloud-node-manager")
	if !ok {
		return nil
	}
	for n := range managers {
		subject.Follow(s, &managers[n])
	}
	// The node manager removes the taint, if the provider has one. The controller manager then does not.
	if slices.ContainsFunc(managers, isNodeManager) {
		managers = slices.DeleteFunc(managers, func(n neighbor.Neighbor) bool { return !isNodeManager(n) })
	}
	if len(managers) != 1 || !s.IsFailed(&managers[0]) {
		return nil
	}
	return uninitializedBy(s, &managers[0])
}

func isNodeManager(n neighbor.Neighbor) bool { return strings.Contains(n.ID.Name(), "node-manager") }

// manager matches the name of a program that initializes the nodes of a cloud provider, at the end of the name of a
// container, an image or a command.
var manager = regexp.MustCompile(`(?:^|[/-])cloud-(?:controller|node)-manager(?:[:@]|$)`)

func isManager(c corev1.Container) bool {
	return manager.MatchString(c.Name) || manager.MatchString(c.Image) ||
		len(c.Command) > 0 && manager.MatchString(c.Command[0])
}
