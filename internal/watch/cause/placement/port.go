package placement

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// portTaken explains why a pod cannot be scheduled: another pod uses its host port on the only node on which it can
// run, for example because it belongs to a DaemonSet.
func portTaken(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !strings.Contains(rejection(p), "free ports for the requested pod ports") {
		return nil
	}
	to, ok := pinOf(s, p)
	if !ok {
		return nil
	}
	own := subject.Workload(s, &s.Neighbor)
	for _, n := range s.Existing(s.Users(graph.NewID(nodeKind, "", to.node), maxPods)) {
		if n.ID.Kind != podKind || n.ID == s.ID {
			continue
		}
		other := neighbor.Decode[corev1.Pod](n.Object)
		number := sharedPort(p, &other)
		if number == 0 || subject.IsFinished(&other) {
			continue
		}
		by := subject.Workload(s, &n)
		if by.ID == own.ID {
			by = n // For example, a pod of an older version that is still being deleted.
		}
		subject.Follow(s, &n)
		s.AddSource(n.Resource, n.ID.Namespace())
		return s.ExplainBy(&by, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence,
			fmt.Sprintf("%s uses the host port %d of Node %s", s.Name(&by), number, to.node)))
	}
	return nil
}

// sharedPort returns a host port that two pods use, or 0. Two pods can use a port on different addresses.
func sharedPort(p, other *corev1.Pod) int32 {
	for _, a := range fit.HostPorts(p) {
		for _, b := range fit.HostPorts(other) {
			isSameAddress := a.HostIP == b.HostIP || isAnyAddress(a.HostIP) || isAnyAddress(b.HostIP)
			if a.HostPort == b.HostPort && a.Protocol == b.Protocol && isSameAddress {
				return a.HostPort
			}
		}
	}
	return 0
}

func isAnyAddress(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }
