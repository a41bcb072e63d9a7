package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Guest explains a VirtualMachineInstance of KubeVirt that does not start although its pod runs, by the failed pod of
// virt-handler on its node. This agent starts the machine in the pod.
func Guest(s *subject.Subject) *verdict.Verdict {
	if s.ID.Kind != (graph.Kind{Group: "kubevirt.io", Kind: "VirtualMachineInstance"}) || !s.Own.Severity.IsProblem() {
		return nil
	}
	status := neighbor.Decode[struct {
		Status struct {
			Phase    string `json:"phase"`
			NodeName string `json:"nodeName"`
		} `json:"status"`
	}](s.Object).Status
	isFailed := func(c metav1.Condition) bool { return c.Type == "Synchronized" } // The agent reported an error.
	if status.Phase != "Scheduled" || slices.ContainsFunc(neighbor.Conditions(s.Object, metav1.ConditionFalse), isFailed) {
		return nil
	}
	agent := subject.FailedAgent(s, status.NodeName, isVirtHandler)
	if agent == nil {
		return nil
	}
	return s.Inherit(agent, verdict.Degraded, subject.Sentences(s.Own.Sentence, s.Name(agent)+": "))
}

// isVirtHandler reports whether a pod is the agent of KubeVirt. Distributions of KubeVirt use the same label.
func isVirtHandler(p *corev1.Pod) bool {
	isDaemon := slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
	return isDaemon && p.Labels["kubevirt.io"] == "virt-handler"
}
