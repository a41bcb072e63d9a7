package fit

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// RequiredLabels returns the labels that a node needs for a pod. isComplete is false if the pod has further
// requirements.
func RequiredLabels(p *corev1.Pod) (required map[string]string, isComplete bool) {
	required, isComplete = make(map[string]string), true
	maps.Copy(required, p.Spec.NodeSelector)
	if p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return required, true
	}
	selector := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if selector == nil {
		return required, true
	}
	if len(selector.NodeSelectorTerms) != 1 {
		return required, false
	}
	term := &selector.NodeSelectorTerms[0]
	for _, r := range term.MatchExpressions {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			required[r.Key] = r.Values[0]
		} else {
			isComplete = false
		}
	}
	return required, isComplete && len(term.MatchFields) == 0
}

// hasLabels reports whether a node has the given labels.
func hasLabels(node *corev1.Node, required map[string]string) bool {
	for key, value := range required {
		if node.Labels[key] != value {
			return false
		}
	}
	return true
}
