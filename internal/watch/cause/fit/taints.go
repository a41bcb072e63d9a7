package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// IsCordoned reports whether a node is cordoned, and a pod does not tolerate this. Pods of a DaemonSet do.
func IsCordoned(p *corev1.Pod, node *corev1.Node) bool {
	taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	return node.Spec.Unschedulable && !tolerates(p, &taint)
}

// IsRejected reports whether a pod does not fit on a node because of the node itself. The scheduler then does not
// compare the pod with the pods on this node.
func IsRejected(p *corev1.Pod, node *corev1.Node) bool {
	required, _ := RequiredLabels(p)
	return !hasLabels(node, required) || Untolerated(p, node) != nil || IsCordoned(p, node)
}

// Untolerated returns the first taint of a node that keeps a new pod away, or nil.
func Untolerated(p *corev1.Pod, node *corev1.Node) *corev1.Taint {
	for n := range node.Spec.Taints {
		taint := &node.Spec.Taints[n]
		isSoft := taint.Effect == corev1.TaintEffectPreferNoSchedule
		if !isSoft && taint.Key != corev1.TaintNodeUnschedulable && !tolerates(p, taint) {
			return taint
		}
	}
	return nil
}

func tolerates(p *corev1.Pod, taint *corev1.Taint) bool {
	for n := range p.Spec.Tolerations {
		t := &p.Spec.Tolerations[n]
		isEffect := t.Effect == "" || t.Effect == taint.Effect
		isKey := t.Key == taint.Key || t.Key == "" && t.Operator == corev1.TolerationOpExists
		if isEffect && isKey && (t.Operator == corev1.TolerationOpExists || t.Value == taint.Value) {
			return true
		}
	}
	return false
}

// Obstacle returns why a DaemonSet with the given pod runs no pod on a node, or "". It ignores taints that Kubernetes
// itself sets: the pods of a DaemonSet tolerate most of these.
func Obstacle(p *corev1.Pod, node *corev1.Node) string {
	others := node.DeepCopy()
	others.Spec.Taints = slices.DeleteFunc(others.Spec.Taints, func(taint corev1.Taint) bool {
		return strings.HasPrefix(taint.Key, "node.kubernetes.io/")
	})
	required, _ := RequiredLabels(p)
	for _, key := range slices.Sorted(maps.Keys(required)) {
		if value, ok := node.Labels[key]; !ok || value != required[key] {
			return fmt.Sprintf("requires the node label %s=%s, which this node does not have", key, required[key])
		}
	}
	if taint := Untolerated(p, others); taint != nil {
		return "does not tolerate the taint " + taint.ToString() + " of this node"
	}
	return ""
}
