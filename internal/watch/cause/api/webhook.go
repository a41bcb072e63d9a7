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
	// searchInterval is the time between two searches for failed calls. A search can read all events.
	searchInterval = 5 * time.Minute
)

// noAnswer matches the error of a call to which no server responds, as if a policy drops or rejects the connection.
var noAnswer = regexp.MustCompile(`context deadline exceeded|Client\.Timeout exceeded|i/o timeout|` +
	`connect: (?:network is unreachable|no route to host|connection timed out)`)

// BlockedWebhook explains why calls of a webhook fail although its pods are ready: network policies allow connections
// only from the pods' own namespace, so not from the API server. Some network plugins ignore such policies for the API
// server, so an event must also report repeated failed calls since the pods are ready.
func BlockedWebhook(
	s *subject.Subject, webhook string, service *neighbor.Neighbor, severity verdict.Severity,
) *verdict.Verdict {
	policy, readySince := closedPolicy(s, service)
	if policy == nil {
		return nil
	}
	subject.Follow(s, policy)
	s.RevisitAt(s.Now().Add(searchInterval)) // A new event does not start an evaluation of this object.
	failed := failedCall(s, webhook, readySince)
	if failed == nil {
		return nil
	}
	s.AddSource(failed.Resource, failed.ID.Namespace())
	return s.ExplainBy(policy, severity, "BlockedByNetworkPolicy", fmt.Sprintf(
		"calls get no response, and %s does not let the API server reach the pods of %s",
		s.Name(policy), s.Name(service)))
}

// failedCall returns a recent event about repeated calls of a webhook to which no server responded, or nil.
func failedCall(s *subject.Subject, webhook string, since time.Time) *neighbor.Neighbor {
	name := []byte(webhook)
	for _, n := range s.All(graph.Kind{Kind: "Event"}, neighbor.AnyNamespace, maxEvents) {
		text, _ := n.Object.JSON()
		if !bytes.Contains(text, []byte("failed calling webhook")) || !bytes.Contains(text, name) {
			continue // Do not decode it.
		}
		e := neighbor.Decode[corev1.Event](n.Object)
		_, call, ok := strings.Cut(e.Message, `failed calling webhook "`+webhook+`"`)
		at := neighbor.EventTime(&e)
		if ok && subject.IsRepeated(&e) && noAnswer.MatchString(call) && at.After(since) &&
			at.After(s.Now().Add(-subject.MaxCallAge)) {
			return &n
		}
	}
	return nil
}

// closedPolicy returns a network policy for a pod of a Service, if no pod of the Service accepts connections from
// outside its namespace. Otherwise, it returns nil. The time is when the last pod became ready.
func closedPolicy(
	s *subject.Subject, service *neighbor.Neighbor,
) (closed *neighbor.Neighbor, readySince time.Time) {
	kind := graph.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
	selector, namespace := s.Selector(service.ID), service.ID.Namespace()
	policies, isComplete := subject.AllOf(s, kind, namespace, neighbor.Limit)
	if selector == nil || len(policies) == 0 || !isComplete {
		return nil, time.Time{}
	}
	pods, isComplete := subject.PodsOf(s, namespace, selector, neighbor.Limit)
	if !isComplete {
		return nil, time.Time{} // Another pod possibly accepts connections.
	}
	for _, n := range pods {
		p := neighbor.Decode[corev1.Pod](n.Object)
		if subject.IsFinished(&p) {
			continue
		}
		by := closedFor(&p, policies)
		if by == nil || p.Spec.HostNetwork {
			return nil, time.Time{}
		}
		closed = by
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.LastTransitionTime.After(readySince) {
				readySince = c.LastTransitionTime.Time
			}
		}
	}
	return closed, readySince
}

// closedFor returns the policy that closes a pod to the API server, or nil. If there are several, it prefers one that
// permits some connections.
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

// isOpen reports whether a rule possibly lets the API server connect, regardless of the port: the rule permits all
// sources, an IP address, or pods of other namespaces, which can forward the connections of the API server.
func isOpen(rule networking.NetworkPolicyIngressRule) bool {
	return len(rule.From) == 0 || slices.ContainsFunc(rule.From, func(peer networking.NetworkPolicyPeer) bool {
		return peer.IPBlock != nil || peer.NamespaceSelector != nil
	})
}
