// Package node explains why a node has a problem, or why a pod gets no network on its node.
package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// nodeWarnings are the reasons of events about lasting problems of a node that do not appear in its status.
var nodeWarnings = []string{ //nolint:gochecknoglobals // Constant.
	"FailedToCreateRoute", "FreeDiskSpaceFailed", "ContainerGCFailed", "FailedNodeAllocatableEnforcement",
}

// Explain explains why a node remains while it is being deleted: a pod on the node does not stop, or cannot be evicted.
// It explains a node that is not initialized, or has no network, by the failed workload or agent that has to provide
// this. For a node that seems healthy, it reports frequent interruptions of the node, or a problem about which a
// controller repeats an event.
func Explain(s *subject.Subject) *verdict.Verdict {
	switch {
	case s.Own.Reason == subject.Terminating:
		return api.BlockedDrain(s)
	case s.Own.Reason == "NotReady" && s.Own.Severity.IsProblem():
		return withoutNetwork(s)
	case s.Own.Reason == string(corev1.NodeNetworkUnavailable) && s.Own.Severity.IsProblem():
		return networkDown(s)
	case s.Own.Reason == "NotInitialized" && s.Own.Severity.IsProblem():
		if v := withoutCloud(s); v != nil {
			return v
		}
		return withoutAgent(s)
	case s.Own.Severity != verdict.OK:
		return nil
	}
	if v := unstable(s); v != nil {
		return v
	}
	last := s.NewestEvent(func(e *corev1.Event) bool {
		return e.Reason == "CIDRNotAvailable" || slices.Contains(nodeWarnings, e.Reason)
	})
	switch {
	case last == nil:
		return nil
	case last.Reason == "CIDRNotAvailable": // The controller also repeats it if another one assigns the addresses.
		if neighbor.Decode[corev1.Node](s.Object).Spec.PodCIDR != "" {
			return nil
		}
		return s.Repeated(last, "The node has no pod CIDR: the cluster CIDR has no free range. ")
	}
	return s.Repeated(last, "")
}

// uninitializedBy returns the verdict on a node that n does not initialize. It begins with the node's own sentence.
func uninitializedBy(s *subject.Subject, n *neighbor.Neighbor) *verdict.Verdict {
	v := s.Inherit(n, s.Own.Severity, subject.Sentences(s.Own.Sentence, s.Name(n)+": "))
	v.Reason = s.Own.Reason
	return v
}
