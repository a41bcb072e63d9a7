package placement

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
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
	var managers []neighbor.Neighbor
	for _, kind := range []string{"DaemonSet", "Deployment", "StatefulSet"} {
		found, ok := cloudManagers(s, graph.Kind{Group: "apps", Kind: kind})
		if !ok {
			return nil
		}
		managers = append(managers, found...)
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

// maxWorkloads limits the workloads of each kind among which a cloud controller manager is searched for.
const maxWorkloads = 10 * neighbor.Limit

// manager matches the name of a program that initializes the nodes of a cloud provider, at the end of the name of a
// container, an image or a command.
var manager = regexp.MustCompile(`(?:^|[/-])cloud-(?:controller|node)-manager(?:[:@]|$)`)

// cloudManagers returns the workloads of a kind that initialize the nodes of a cloud provider. ok is false if there are
// possibly further ones.
func cloudManagers(s *subject.Subject, kind graph.Kind) (found []neighbor.Neighbor, ok bool) {
	all := s.All(kind, neighbor.AnyNamespace, maxWorkloads)
	if len(all) == maxWorkloads || !subject.KnowsAll(s, kind, "") {
		return nil, false
	}
	for n := range all {
		text, _ := all[n].Object.JSON()
		if !bytes.Contains(text, []byte("cloud-controller-manager")) && !bytes.Contains(text, []byte("cloud-node-manager")) {
			continue // This is so for most workloads, so do not decode them.
		}
		// The members that a DaemonSet lacks are not used.
		containers := neighbor.Decode[appsv1.Deployment](all[n].Object).Spec.Template.Spec.Containers
		if slices.ContainsFunc(containers, isManager) {
			subject.Follow(s, &all[n])
			found = append(found, all[n])
		}
	}
	return found, true
}

func isManager(c corev1.Container) bool {
	return manager.MatchString(c.Name) || manager.MatchString(c.Image) ||
		len(c.Command) > 0 && manager.MatchString(c.Command[0])
}
