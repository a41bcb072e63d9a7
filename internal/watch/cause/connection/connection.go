// Package connection explains why the containers of a pod cannot connect to a server.
package connection

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// client is a pod that cannot connect to a server, or that waits for one.
type client struct {
	*subject.Subject

	pod   corev1.Pod
	chain *chain
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
	// serverError matches a 5xx status with which a server answers.
	serverError = regexp.MustCompile(`(?i)\b(?:code|status|HTTP(?:/[\d.]+)?)(?: is| was)?[:= ]+["']?5\d\d\b|` +
		`\b5\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)\b`)
	// noDNS matches an error about a DNS server that does not respond, or that refuses the connection.
	noDNS = regexp.MustCompile(`\blookup \S+ on (\S+):53: .{0,100}\b(?:i/o timeout|connection refused)|` +
		`\blookup [a-z0-9.-]+: i/o timeout|\bEAI_AGAIN\b|(?i:temporary) failure in name resolution|` +
		`\bno servers could be reached`)
)

// Failure explains a pod whose containers cannot connect to a server, by the server's Service or by a network policy.
// The text is the error of a container. If a container only waits for a server, the text is not used.
func Failure(s *subject.Subject, text string) *verdict.Verdict {
	return newClient(s, &chain{}).failure(text)
}

func newClient(s *subject.Subject, of *chain) *client {
	of.pods = append(of.pods, s.ID)
	return &client{Subject: s, pod: neighbor.Decode[corev1.Pod](s.Object), chain: of}
}

func (c *client) failure(text string) *verdict.Verdict {
	switch usesClusterDNS := c.usesClusterDNS(); {
	case c.Own.Reason == "PodInitializing":
		if !usesClusterDNS {
			return nil
		}
		return c.waiting()
	case !subject.HasEnded(&c.pod):
		return nil
	case api.IsRejected(text):
		return api.Rejected(c.Subject, &c.pod, text)
	case !usesClusterDNS:
		for _, rule := range []func(*client, string) *verdict.Verdict{withoutNodeLocalDNS, withNodeDNS} {
			if v := rule(c, text); v != nil {
				return v
			}
		}
		return unconnected(c, text, isAddress)
	}
	for _, rule := range []func(*client, string) *verdict.Verdict{sharedMemoryFailure, unauthorized} {
		if v := rule(c, text); v != nil {
			return v
		}
	}
	if noDNS.MatchString(text) {
		for _, rule := range []func(*client, string) *verdict.Verdict{withoutNodeLocalDNS, failedDNS, withoutDNS} {
			if v := rule(c, text); v != nil {
				return v
			}
		}
	}
	if host := unresolvedHost(text); host != "" {
		return c.unresolved(host, text)
	}
	return unconnected(c, text, func(string) bool { return true })
}

// unconnected explains the pod by a Service in an error about a connection, or by a network policy. It uses only hosts
// for which include returns true.
func unconnected(c *client, text string, include func(host string) bool) *verdict.Verdict {
	text = errorIn(text, noConnection)
	if v := c.onNode(text); v != nil {
		return v
	}
	found, _ := hosts(text)
	found = append(addressed(c, found, text), found...)
	if len(found) == 0 {
		found, text = requestedHost(c, text)
	}
	for _, host := range found {
		if !include(host) {
			continue
		}
		services := c.services(host)
		for n := range services {
			if v := c.unreachable(&services[n], host, text); v != nil {
				return v
			}
		}
		if v := outside(c, host, text); v != nil {
			return v
		}
	}
	return nil
}

// maxDistance limits the distance between an error and the word with the host, in bytes. maxWord limits that word.
const maxDistance, maxWord = 200, 1000

// errorIn returns the last part of a text that matches a pattern, with the words around it. Without one, it returns "".
func errorIn(text string, pattern *regexp.Regexp) string {
	all := pattern.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return ""
	}
	start, end := all[len(all)-1][0], all[len(all)-1][1]
	from := max(0, start-maxDistance)
	from = max(0, from-maxWord, strings.LastIndexAny(text[:from], " \n")) // Include the complete first word.
	after := text[end:min(len(text), end+maxDistance)]
	if len(text)-end > maxDistance {
		after = after[:max(0, strings.LastIndexByte(after, ' '))]
	}
	return text[from:end] + after
}

// usesClusterDNS reports whether the host names of the pod can mean Services. If the pod has its own search domains,
// the names can also mean other hosts.
func (c *client) usesClusterDNS() bool {
	dns, config := c.pod.Spec.DNSPolicy, c.pod.Spec.DNSConfig
	return (config == nil || len(config.Searches) == 0) && dns != corev1.DNSDefault && dns != corev1.DNSNone &&
		(!c.pod.Spec.HostNetwork || dns == corev1.DNSClusterFirstWithHostNet)
}

// unreachable explains the pod by a Service that has no ready endpoints or does not forward the connection, or by a
// network policy. A Service of the pod itself is not an explanation. text is the error of a connection to the host. It
// is empty if the pod only waits for the Service.
func (c *client) unreachable(n *neighbor.Neighbor, host, text string) *verdict.Verdict {
	if n.Object == nil || n.ID.Kind != serviceKind || subject.IsSelectedBy(c.Subject, n.ID) {
		return nil
	}
	subject.Follow(c.Subject, n)
	if v := c.serverFailure(n); v != nil || text == "" {
		return v
	}
	if v := c.notForwarded(n, host, text); v != nil {
		return v
	}
	if v := withoutMutualTLS(c, n, host, text); v != nil {
		return v
	}
	if !noAnswer.MatchString(text) {
		return nil
	}
	if v := c.blocked(n, text); v != nil {
		return v
	}
	return withoutProxy(c, n)
}

// explainWith explains the pod by the content of a Service. The sentence of the verdict is the pod's own sentence,
// followed by the reason.
func (c *client) explainWith(service *neighbor.Neighbor, reason string) *verdict.Verdict {
	c.AddSource(subject.PodsRef, service.ID.Namespace()) // The reason contains facts about the pods of the Service.
	return c.ExplainBy(service, c.Own.Severity, c.Own.Reason, subject.Sentences(c.Own.Sentence, reason))
}

// podsOf returns the pods that a Service selects. ok is false if possibly not all of them are known, or if the Service
// has no selector or was deleted in the meantime.
func podsOf(c *client, service graph.ID) (pods []neighbor.Neighbor, ok bool) {
	selector := c.Selector(service)
	if selector == nil {
		return nil, false
	}
	return subject.PodsOf(c.Subject, service.Namespace(), selector, neighbor.Limit)
}
