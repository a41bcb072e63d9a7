package placement

import (
	"regexp"
	"slices"

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
