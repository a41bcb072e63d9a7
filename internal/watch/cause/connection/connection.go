// Package connection explains why the containers of a pod cannot connect to a server in the cluster.
package connection

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// client is a pod that cannot connect to a server, or that waits for one.
type client struct {
	*subject.Subject

	pod corev1.Pod
}

var (
	// noConnection matches an error about a connection.
	noConnection = regexp.MustCompile(`(?i)\b(connection (?:refused|reset|closed|failed)|ECONNREFUSED|ECONNRESET|` +
		`(?:could not|cannot|can't|couldn't|unable to|failed to) (?:establish |open |make )?(?:an? |the )?` +
		`(?:\w+ )?connect(?:ion)?|connection to .{1,80} failed|connection error|server (?:is )?unavailable|` +
		`service unavailable)\b|` + noAnswer.String())
	// noAnswer matches an error about a connection that nothing answers.
	noAnswer = regexp.MustCompile(`(?i)\b(?:timed out|timeout|ETIMEDOUT|deadline exceeded|` +
		`no route to host|EHOSTUNREACH)\b`)
	// noDNS matches an error about a DNS server that does not answer.
	noDNS = regexp.MustCompile(`\blookup \S+ on \S+:53: .{0,100}\bi/o timeout|\bEAI_AGAIN\b|` +
		`(?i:temporary) failure in name resolution`)
)

// Failure explains a pod whose containers cannot connect to a server, by the server's Service or by a network policy.
// The text is the error of a container. If a container only waits for a server, the text is not used.
func Failure(s *subject.Subject, text string) *verdict.Verdict {
	c := &client{Subject: s, pod: neighbor.Decode[corev1.Pod](s.Object)}
	if !c.usesClusterDNS() {
		return nil
	}
	if s.Own.Reason == "PodInitializing" {
		return c.waiting()
	}
	if !slices.ContainsFunc(slices.Concat(c.pod.Status.InitContainerStatuses, c.pod.Status.ContainerStatuses), hasEnded) {
		return nil
	}
	if noDNS.MatchString(text) {
		if v := c.withoutDNS(); v != nil {
			return v
		}
	}
	if host := unresolvedHost(text); host != "" {
		return c.unresolved(servicesOf(s, host))
	}
	if !noConnection.MatchString(text) {
		return nil
	}
	for _, host := range slices.Concat(hostsIn(sureHost, text), hostsIn(likelyHost, text)) {
		services := servicesOf(s, host)
		for n := range services {
			if v := c.unreachable(&services[n], text); v != nil {
				return v
			}
		}
	}
	return nil
}

// usesClusterDNS reports whether the host names of the pod can mean Services.
func (c *client) usesClusterDNS() bool {
	dns := c.pod.Spec.DNSPolicy
	return dns != corev1.DNSDefault && dns != corev1.DNSNone &&
		(!c.pod.Spec.HostNetwork || dns == corev1.DNSClusterFirstWithHostNet)
}

func hasEnded(c corev1.ContainerStatus) bool {
	return c.State.Terminated != nil || c.LastTerminationState.Terminated != nil
}

// unresolved explains the pod by the first of the Services, if none of them exists.
func (c *client) unresolved(services []neighbor.Neighbor) *verdict.Verdict {
	isMissing := func(n neighbor.Neighbor) bool { return n.Presence == neighbor.Missing }
	if len(services) == 0 || slices.ContainsFunc(services, func(n neighbor.Neighbor) bool { return !isMissing(n) }) {
		return nil
	}
	cause := c.MissingCause(&services[0])
	cause.Sentence = c.Own.Sentence + ". " + cause.Sentence
	return c.Explain(c.Own.Severity, c.Own.Reason, cause.Sentence, cause)
}

// unreachable explains the pod by a Service that has no ready endpoints, or by a network policy. A Service of the pod
// itself is no explanation.
func (c *client) unreachable(n *neighbor.Neighbor, text string) *verdict.Verdict {
	selector := c.Selector(n.ID)
	if n.Object == nil || n.ID.Kind != serviceKind ||
		selector != nil && n.ID.Namespace() == c.ID.Namespace() && selector.Matches(c.pod.Labels) {
		return nil
	}
	subject.Follow(c.Subject, n)
	of := n.Object.Verdict().Unpack()
	isScaled := of.Reason == "ScaledToZero" && of.Cause != nil
	if isScaled || c.IsFailed(n) || c.HasProblem(n) && of.Reason == "NoSuchPort" {
		v := c.Inherit(n, c.Own.Severity, c.Own.Sentence+". "+n.String()+": ")
		v.Reason = c.Own.Reason
		return v
	}
	if noAnswer.MatchString(text) {
		return c.blocked(n, text)
	}
	return nil
}
