package node

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// noNetwork matches the message of a kubelet whose container runtime has no initialized network plugin.
var noNetwork = regexp.MustCompile(`(?i)\b(?:NetworkPluginNotReady|cni (?:plugin not |config un)initialized)\b`)

// withoutNetwork explains a node that is not ready because its network plugin is not initialized, by the failed pod
// that installs the plugin on this node.
func withoutNetwork(s *subject.Subject) *verdict.Verdict {
	isUninitialized := func(c metav1.Condition) bool {
		return c.Type == string(corev1.NodeReady) && noNetwork.MatchString(c.Message)
	}
	if !slices.ContainsFunc(neighbor.Conditions(s.Object, metav1.ConditionFalse), isUninitialized) {
		return nil
	}
	agent := subject.FailedAgent(s, s.ID.Name(), subject.IsNetworkPlugin)
	if agent == nil {
		return nil
	}
	return uninitializedBy(s, agent)
}

// downReason matches the reason of a condition in which a network plugin reports that it does not work on a node, such
// as CalicoIsDown.
var downReason = regexp.MustCompile(`^([A-Z][A-Za-z]+)IsDown$`)

// networkDown explains a node whose network plugin has reported that it is down, by the failed pod of this plugin.
func networkDown(s *subject.Subject) *verdict.Verdict {
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionTrue) {
		found := downReason.FindStringSubmatch(c.Reason)
		if c.Type != string(corev1.NodeNetworkUnavailable) || found == nil {
			continue
		}
		project := strings.ToLower(found[1])
		isAgent := func(p *corev1.Pod) bool { return isPluginOf(p, project) }
		if agent := subject.FailedAgent(s, s.ID.Name(), isAgent); agent != nil {
			return uninitializedBy(s, agent)
		}
	}
	return nil
}

// sandboxNetwork matches an error about the network of a pod, which a network plugin has to set up.
var sandboxNetwork = regexp.MustCompile(`(?i)\b(?:network for sandbox|network for pod|networkplugin|cni)\b`)

// NetworkFailure explains a pod that gets no network, by the failed pod that installs the network plugin on the node.
func NetworkFailure(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	if last.Reason != "FailedCreatePodSandBox" || !sandboxNetwork.MatchString(last.Message) {
		return nil
	}
	agent := subject.FailedAgent(s, p.Spec.NodeName, subject.IsNetworkPlugin)
	if agent == nil {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.Inherit(agent, verdict.Degraded, subject.Sentences(last.Message, s.Name(agent)+": "))
}
