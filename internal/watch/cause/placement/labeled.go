package placement

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// labeled explains why a pod cannot be scheduled, by a problem of the only node that has all labels which the pod
// requires. A taint that the problem causes must be the reason why the pod does not fit on this node.
func labeled(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	required, _ := requiredLabels(p)
	if len(required) == 0 || !strings.Contains(rejection(p), "untolerated taint") {
		return nil
	}
	only := onlyNode(s, required)
	if only == nil {
		return nil
	}
	subject.Follow(s, only)
	if !s.HasProblem(only) || !isKeptAway(p, only) {
		return nil
	}
	return s.Inherit(only, s.Own.Severity, fmt.Sprintf(
		"The pod can only run on %s (because of the labels that it requires), but this node has a problem: ", only))
}

// onlyNode returns the node that has the given labels, if it is the only one. Otherwise, it returns nil.
func onlyNode(s *subject.Subject, required map[string]string) (only *neighbor.Neighbor) {
	all := s.All(nodeKind, "", neighbor.Limit)
	if len(all) == neighbor.Limit || !subject.KnowsAll(s, nodeKind, "") {
		return nil
	}
	for n := range all {
		o := neighbor.Decode[corev1.Node](all[n].Object)
		switch {
		case !hasLabels(&o, required):
		case only != nil:
			return nil
		default:
			only = &all[n]
		}
	}
	return only
}

func hasLabels(node *corev1.Node, required map[string]string) bool {
	for key, value := range required {
		if node.Labels[key] != value {
			return false
		}
	}
	return true
}

// isKeptAway reports whether the taints that a problem of a node causes are the only reason why the node rejects a pod.
// These are the taints of the node controller, and those that the verdict on the node names.
func isKeptAway(p *corev1.Pod, n *neighbor.Neighbor) bool {
	node, own := neighbor.Decode[corev1.Node](n.Object), n.Object.Verdict().Own().Unpack()
	others := node.DeepCopy()
	others.Spec.Taints = slices.DeleteFunc(others.Spec.Taints, func(taint corev1.Taint) bool {
		return strings.HasPrefix(taint.Key, "node.kubernetes.io/") || strings.Contains(own.Sentence, taint.Key)
	})
	return !node.Spec.Unschedulable && untolerated(p, &node) != nil && untolerated(p, others) == nil
}
