// Package fit compares pods with nodes: the labels, taints and resources. Its functions never access the API server.
package fit

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

//nolint:gochecknoglobals // Constant.
var nodeKind = graph.Kind{Kind: "Node"}

// MaxNodes limits the nodes that are searched for a place for a pod.
const MaxNodes = 10 * neighbor.Limit

// NodesWith returns the nodes that have the given labels. The result ok is false if further ones possibly exist.
func NodesWith(s *subject.Subject, required map[string]string) (nodes []neighbor.Neighbor, ok bool) {
	all, ok := allNodes(s)
	return slices.DeleteFunc(all, func(n neighbor.Neighbor) bool {
		text, _ := n.Object.JSON()
		for _, value := range required {
			if !bytes.Contains(text, []byte(`"`+value+`"`)) {
				return true // This is so for most nodes, so do not decode them.
			}
		}
		o := neighbor.Decode[corev1.Node](n.Object)
		return !hasLabels(&o, required)
	}), ok
}

// HasNode reports whether a node has a label. It also returns true if not all nodes are known.
func HasNode(s *subject.Subject, key, value string) bool {
	nodes, ok := NodesWith(s, map[string]string{key: value})
	return !ok || len(nodes) > 0
}

// SuitableNodes returns the nodes that do not reject a pod because of their labels or taints. It returns none if not
// all nodes are known.
func SuitableNodes(s *subject.Subject, p *corev1.Pod) []corev1.Node {
	all, _ := allNodes(s)
	var suitable []corev1.Node
	for n := range all {
		if node := neighbor.Decode[corev1.Node](all[n].Object); !IsRejected(p, &node) {
			suitable = append(suitable, node)
		}
	}
	return suitable
}

// LargestNode returns the largest allocatable amount of a resource on one suitable node, or nil if not all nodes are
// known, or no node is suitable.
func LargestNode(s *subject.Subject, p *corev1.Pod, of corev1.ResourceName) (largest *resource.Quantity) {
	for _, node := range SuitableNodes(s, p) {
		if has, ok := node.Status.Allocatable[of]; ok && (largest == nil || has.Cmp(*largest) > 0) {
			largest = &has
		}
	}
	return largest
}

// allNodes returns all nodes. If further ones possibly exist, it returns none, and ok is false.
func allNodes(s *subject.Subject) (nodes []neighbor.Neighbor, ok bool) {
	if nodes, ok = subject.AllOf(s, nodeKind, "", MaxNodes); !ok {
		return nil, false
	}
	return nodes, true
}
