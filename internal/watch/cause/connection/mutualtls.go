package connection

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mesh"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// reset matches an error about a connection that the server has closed.
var reset = regexp.MustCompile(`(?i)\b(?:connection reset|ECONNRESET)\b`)

// withoutMutualTLS explains a pod without a proxy of Istio whose connections to a Service are reset, by the
// PeerAuthentication because of which all ready pods of the Service accept only mutual TLS.
func withoutMutualTLS(c *client, n *neighbor.Neighbor, host, text string) *verdict.Verdict {
	if !reset.MatchString(text) || strings.Contains(text, "https://"+host) || !mesh.IsOutside(&c.pod) {
		return nil
	}
	ready, isComplete := readyPods(c, n)
	if !isComplete {
		return nil
	}
	o := neighbor.Decode[corev1.Service](n.Object)
	var by *neighbor.Neighbor
	for _, p := range ready {
		for _, at := range targets(&o, &p, text) {
			policy := mesh.Strict(c.Subject, &p, at.Number)
			if policy == nil || by != nil && by.ID != policy.ID {
				return nil
			}
			by = policy
		}
	}
	end := subject.LastEnd(c.Subject)
	if by == nil || !end.IsZero() && by.Object.Created().After(end) {
		return nil // The policy did not exist yet when the container ended.
	}
	subject.Follow(c.Subject, by)
	c.AddSource(n.Resource, n.ID.Namespace())
	c.AddSource(subject.PodsRef, n.ID.Namespace())
	return c.ExplainBy(by, c.Own.Severity, c.Own.Reason, subject.Sentences(c.Own.Sentence, c.Name(by)+
		" has the mode STRICT, so "+c.Name(n)+" accepts only mutual TLS, but this pod has no Istio sidecar"))
}

// httpClient matches an error of a program whose errors do not always name the host of the request.
var httpClient = regexp.MustCompile(`\bcurl: \(\d+\) |\bwget: `)

// requestedHost returns the host to which curl or wget sent a request, if the error of a container does not name the
// host, and the command of this container contains only one URL. It adds this URL to the error, because the URL can
// contain the port.
func requestedHost(c *client, text string) (found []string, withURL string) {
	var urls []string
	sentence := strings.ToLower(c.Own.Sentence) // It can start with "Container".
	for _, of := range slices.Concat(c.pod.Spec.InitContainers, c.pod.Spec.Containers) {
		if !httpClient.MatchString(text) || !strings.Contains(sentence, "container "+of.Name+": ") {
			continue
		}
		for word := range strings.FieldsSeq(commandOf(c, &of)) {
			if in, isSure := hosts(word); isSure {
				found, urls = append(found, in...), append(urls, word)
			}
		}
	}
	if len(found) != 1 {
		return nil, text
	}
	return found, text + " " + urls[0]
}
