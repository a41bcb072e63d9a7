package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// overhead explains why a pod gets no node: its RuntimeClass adds so much overhead that no node, even an empty one, has
// enough of a resource. Without the overhead, the pod would fit, and the overhead is larger than the requests of the
// containers.
func overhead(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	name := ptr.Deref(p.Spec.RuntimeClassName, "")
	if name == "" || len(p.Spec.Overhead) == 0 || !fullPattern.MatchString(rejection(p)) {
		return nil
	}
	for _, of := range slices.Sorted(maps.Keys(p.Spec.Overhead)) {
		added, request := p.Spec.Overhead[of], requestOf(p, of)
		if added.Cmp(request) <= 0 || !strings.Contains(rejection(p), "Insufficient "+string(of)) {
			continue
		}
		largest := largestNode(s, p, of)
		total := added.DeepCopy()
		total.Add(request)
		if largest == nil || largest.Cmp(total) >= 0 || largest.Cmp(request) < 0 {
			continue
		}
		class := s.Find(graph.NewID(graph.Kind{Group: "node.k8s.io", Kind: "RuntimeClass"}, "", name))
		subject.Follow(s, &class)
		s.AddSource("core/v1/nodes", "")
		return s.ExplainBy(&class, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
			"%s adds %s %s of overhead, and no suitable node has the total of %s", &class, added.String(), of, total.String())))
	}
	return nil
}

// largestNode returns the largest allocatable amount of a resource on one suitable node, or nil if not all nodes are
// known, or no node is suitable.
func largestNode(s *subject.Subject, p *corev1.Pod, of corev1.ResourceName) (largest *resource.Quantity) {
	for _, node := range suitableNodes(s, p) {
		if has, ok := node.Status.Allocatable[of]; ok && (largest == nil || has.Cmp(*largest) > 0) {
			largest = &has
		}
	}
	return largest
}

// suitableNodes returns the nodes that do not reject a pod because of their labels or taints. It returns none if not
// all nodes are known.
func suitableNodes(s *subject.Subject, p *corev1.Pod) []corev1.Node {
	nodes, _ := allNodes(s)
	return slices.DeleteFunc(nodes, func(node corev1.Node) bool { return isRejected(p, &node) })
}

// allNodes returns all nodes. The result ok is false if further ones possibly exist.
func allNodes(s *subject.Subject) (nodes []corev1.Node, ok bool) {
	all := s.All(nodeKind, "", maxNodes)
	if len(all) == maxNodes || !subject.KnowsAll(s, nodeKind, "") {
		return nil, false
	}
	for n := range all {
		nodes = append(nodes, neighbor.Decode[corev1.Node](all[n].Object))
	}
	return nodes, true
}

// maxNodes limits the nodes that are searched for a place for a pod.
const maxNodes = 10 * neighbor.Limit
