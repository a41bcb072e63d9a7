package api

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// maxEvents limits the events that are searched for failed calls of a webhook.
	maxEvents = 50 * neighbor.Limit
	// maxCallAge is the maximum age of a failed call that still applies. A controller that fails again and again waits
	// up to about 17 minutes between its attempts.
	maxCallAge = 20 * time.Minute
	// searchInterval is the time between two searches for failed calls.
	searchInterval = time.Minute
)

// noAnswer matches the error of a call to which no server responds, as if a policy drops or rejects the connection.
var noAnswer = regexp.MustCompile(`context deadline exceeded|Client\.Timeout exceeded|i/o timeout|` +
	`connect: (?:network is unreachable|no route to host|connection timed out)`)

// BlockedWebhook explains why calls of a webhook fail although its pods are ready: network policies permit connections
// to these pods only from other pods, and the API server is no pod of the cluster's network. Some network plugins still
// permit these connections, so an event must report a failed call.
func BlockedWebhook(
	s *subject.Subject, webhook string, service *neighbor.Neighbor, severity verdict.Severity,
) *verdict.Verdict {
	policy := closedPolicy(s, service)
	if policy == nil {
		return nil
	}
	subject.Follow(s, policy)
	s.RevisitAt(s.Now().Add(searchInterval)) // Events about objects do not cause an evaluation of the configuration.
	failed := failedCall(s, webhook)
	if failed == nil {
		return nil
	}
	s.AddSource(failed.Resource, failed.ID.Namespace())
	return s.ExplainBy(policy, severity, "BlockedByNetworkPolicy", fmt.Sprintf(
		"calls get no response, and %s permits connections to the pods of %s only from pods",
		s.Name(policy), s.Name(service)))
}

// failedCall returns a recent event about a call of a webhook to which no server responded, or nil.
func failedCall(s *subject.Subject, webhook string) *neighbor.Neighbor {
	name := []byte(webhook)
	for _, n := range s.All(graph.Kind{Kind: "Event"}, neighbor.AnyNamespace, maxEvents) {
		text, _ := n.Object.JSON()
		if !bytes.Contains(text, []byte("failed calling webhook")) || !bytes.Contains(text, name) {
			continue // Do not decode it.
		}
		e := neighbor.Decode[corev1.Event](n.Object)
		_, call, ok := strings.Cut(e.Message, `failed calling webhook "`+webhook+`"`)
		if ok && noAnswer.MatchString(call) && neighbor.EventTime(&e).After(s.Now().Add(-maxCallAge)) {
			return &n
		}
	}
	return nil
}

// closedPolicy returns a network policy that applies to a pod of a Service, if the policies permit connections to each
// pod of the Service only from pods. Otherwise, it returns nil.
func closedPolicy(s *subject.Subject, service *neighbor.Neighbor) (closed *neighbor.Neighbor) {
	kind := graph.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
	selector, namespace := s.Selector(service.ID), service.ID.Namespace()
	policies := s.All(kind, namespace, neighbor.Limit)
	if selector == nil || len(policies) == 0 || len(policies) == neighbor.Limit || !subject.KnowsAll(s, kind, namespace) {
		return nil
	}
	for _, n := range s.Existing(s.Selected(namespace, selector, neighbor.Limit)) {
		p := neighbor.Decode[corev1.Pod](n.Object)
		if subject.IsFinished(&p) {
			continue
		}
		by := closedFor(&p, policies)
		if by == nil || p.Spec.HostNetwork {
			return nil
		}
		closed = by
	}
	return closed
}

// closedFor returns the policy that closes a pod to the API server, or nil. If there are several, it returns the one
// that permits some connections.
func closedFor(p *corev1.Pod, policies []neighbor.Neighbor) (closed *neighbor.Neighbor) {
	for n := range policies {
		spec := neighbor.Decode[networking.NetworkPolicy](policies[n].Object).Spec
		selector, err := metav1.LabelSelectorAsSelector(&spec.PodSelector)
		if err != nil || !selector.Matches(labels.Set(p.Labels)) ||
			!slices.Contains(spec.PolicyTypes, networking.PolicyTypeIngress) {
			continue
		}
		if slices.ContainsFunc(spec.Ingress, isOpen) {
			return nil
		}
		if closed == nil || len(spec.Ingress) > 0 {
			closed = &policies[n]
		}
	}
	return closed
}

// isOpen reports whether a rule possibly permits connections from the API server, for any port: from everywhere, from
// an IP address, or from the pods of other namespaces, because these can forward the connections of the API server.
func isOpen(rule networking.NetworkPolicyIngressRule) bool {
	return len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(peer networking.NetworkPolicyPeer) bool {
		return peer.IPBlock != nil || peer.NamespaceSelector != nil
	})
}
