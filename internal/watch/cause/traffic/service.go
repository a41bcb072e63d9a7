// Package traffic explains why requests to a Service, an Ingress or a route of the Gateway API reach no pod.
package traffic

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/traffic/balancer"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/traffic/ports"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// noEndpoints is the start of a sentence about a Service without an endpoint that is ready.
const noEndpoints = "The Service has no ready endpoints: "

// Service explains why requests to a Service get no response, or why its load balancer is not updated.
func Service(s *subject.Subject) *verdict.Verdict {
	o := neighbor.Decode[corev1.Service](s.Object)
	if v := explainNoResponse(s, &o); v != nil {
		return v
	}
	if v := outdatedEndpoints(s); v != nil {
		return v
	}
	if len(o.Status.LoadBalancer.Ingress) == 0 {
		return balancer.Explain(s)
	}
	last := s.NewestEvent(func(*corev1.Event) bool { return true })
	if last == nil || !subject.IsWarning(last) || !isLoadBalancer(last.Reason) {
		return nil
	}
	return s.Repeated(last, "Its load balancer is not updated: ")
}

// outdatedEndpoints explains a Service whose EndpointSlices the API server rejects because of a webhook, a quota or a
// policy. Then the proxies of the nodes do not know the present pods. The same event is also about errors that end by
// themselves, such as a pod whose node was just deleted. A success creates no event, so the verdict ends when the next
// attempt is overdue: the controller doubles the time between its attempts.
func outdatedEndpoints(s *subject.Subject) *verdict.Verdict {
	last := s.NewestEvent(func(e *corev1.Event) bool { return e.Reason == "FailedToUpdateEndpointSlices" })
	if last == nil {
		return nil
	}
	at := neighbor.EventTime(last)
	next := subject.MaxCallAge
	if first := last.FirstTimestamp.Time; !first.IsZero() {
		next = min(next, at.Sub(first)+time.Minute)
	}
	if subject.HasPassed(s, at.Add(next)) {
		return nil
	}
	const effect = "Its endpoints are not updated: "
	v := s.Repeated(last, effect)
	if v == nil {
		return nil
	}
	by := admission.Failure(s, last.Message)
	if by != nil {
		by.Severity, by.Sentence = v.Severity, effect+by.Sentence
	}
	return by
}

// isLoadBalancer reports whether the reason of a warning is about a load balancer. The AWS Load Balancer Controller has
// the reasons FailedBuildModel and FailedDeployModel, and MetalLB has AllocationFailed.
func isLoadBalancer(reason string) bool {
	return strings.Contains(reason, "LoadBalancer") ||
		slices.Contains([]string{"FailedBuildModel", "FailedDeployModel", "AllocationFailed"}, reason)
}

// explainNoResponse explains why requests to a Service get no response.
func explainNoResponse(s *subject.Subject, o *corev1.Service) *verdict.Verdict {
	selector := s.Selector(s.ID)
	if target := s.FirstMissing(subject.In("spec.externalName")); target != nil {
		return s.ReportMissing(target, verdict.Failed)
	}
	switch {
	case o.Spec.Type == corev1.ServiceTypeExternalName:
		if v := aliasProblem(s); v != nil {
			return v
		}
		return externalAddress(s, o)
	case selector == nil:
		return manualEndpoints(s, o)
	case o.Spec.PublishNotReadyAddresses:
		return nil
	}
	s.AddSource(subject.PodsRef, s.ID.Namespace())
	pods := newSelection(s, s.ID.Namespace(), selector)
	if len(pods.unread) == 0 {
		return noPods(s, selector)
	}
	if !pods.isComplete {
		return nil // A pod that is not known is possibly ready.
	}
	pods.read(neighbor.Limit)
	for len(pods.ready) == 0 && len(pods.unread) > 0 {
		pods.read(1)
	}
	switch {
	case len(pods.ready) > 0:
		return wrongPort(s, o, pods)
	case len(pods.unready) == 0:
		return nil
	}
	return noneReady(s, pods.unready)
}

// wrongPort reports a port of the Service with a target port that none of the ready pods has.
func wrongPort(s *subject.Subject, o *corev1.Service, pods *selection) *verdict.Verdict {
	if v := ports.Wrong(s, o, pods.ready); v == nil || len(pods.unread) == 0 {
		return v
	}
	pods.read(maxPods)
	return ports.Wrong(s, o, pods.ready)
}

// noneReady explains a Service none of whose pods is ready.
func noneReady(s *subject.Subject, unready []neighbor.Neighbor) *verdict.Verdict {
	sentence := fmt.Sprintf(noEndpoints+"none of its %d pods is ready", len(unready))
	if len(unready) == 1 {
		sentence = noEndpoints + "its pod is not ready"
	}
	if worst := s.Worst(unready); worst != nil {
		return s.Inherit(worst, verdict.Failed, sentence+". ")
	}
	subject.AddSourcesOf(s, &unready[0]) // The texts below contain the sentence of the pod.
	first, self := unready[0].Object.Verdict().Unpack(), neighbor.ObjectOf(&s.Neighbor)
	if first.Cause != nil && first.Cause.Object == self {
		return s.Explain(verdict.Failed, "NoReadyPods", sentence+". "+first.Sentence, nil)
	}
	severity := verdict.Failed
	if slices.ContainsFunc(unready, func(n neighbor.Neighbor) bool {
		return n.Object.Verdict().Severity() == verdict.Progressing
	}) {
		severity = verdict.Progressing
	}
	return s.Explain(severity, "NoReadyPods", sentence, &verdict.Cause{
		Object: neighbor.ObjectOf(&unready[0]), Sentence: first.Sentence,
	})
}
