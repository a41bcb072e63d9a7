package placement

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// labeled explains why a pod cannot be scheduled, by the problems of all nodes that have the labels which the pod
// requires. For each node, a taint that the problem causes must be the reason why the pod does not fit on the node.
func labeled(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	required, _ := fit.RequiredLabels(p)
	if len(required) == 0 || !strings.Contains(rejection(p), "untolerated taint") {
		return nil
	}
	nodes, ok := fit.NodesWith(s, required)
	if !ok || len(nodes) > neighbor.Limit {
		return nil
	}
	for n := range nodes {
		subject.Follow(s, &nodes[n])
		if !s.HasProblem(&nodes[n]) || !isKeptAway(p, &nodes[n]) {
			return nil
		}
	}
	worst := s.Worst(nodes)
	switch {
	case worst == nil:
		return nil
	case len(nodes) == 1:
		return s.Inherit(worst, s.Own.Severity, fmt.Sprintf(
			"The pod can only run on %s (because of the labels that it requires), but this node has a problem: ", worst))
	}
	return s.Inherit(worst, s.Own.Severity, fmt.Sprintf(
		"Each of the %d nodes with the labels that the pod requires has a problem. %s: ", len(nodes), worst))
}

// isKeptAway reports whether the taints that a problem of a node causes are the only reason why the node rejects a pod.
// These are the taints of the node controller, those that a controller or an agent removes when it has initialized the
// node, and those that the verdict on the node names.
func isKeptAway(p *corev1.Pod, n *neighbor.Neighbor) bool {
	node, own := neighbor.Decode[corev1.Node](n.Object), n.Object.Verdict().Own().Unpack()
	others := node.DeepCopy()
	others.Spec.Taints = slices.DeleteFunc(others.Spec.Taints, func(taint corev1.Taint) bool {
		return strings.HasPrefix(taint.Key, "node.kubernetes.io/") || builtin.IsStartupTaint(taint.Key) ||
			strings.Contains(own.Sentence, taint.Key)
	})
	return !node.Spec.Unschedulable && fit.Untolerated(p, &node) != nil && fit.Untolerated(p, others) == nil
}
