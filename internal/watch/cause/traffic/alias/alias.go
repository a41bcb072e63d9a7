// Package alias explains Services of the type ExternalName that are aliases for other Services of the cluster.
package alias

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Explain explains an alias by the failure of the other Service. If the other Service has no pods on purpose, the alias
// usually has no problem either.
func Explain(s *subject.Subject) *verdict.Verdict {
	for n := range s.Used(subject.In("spec.externalName")) {
		if n.Object == nil {
			continue
		}
		of := n.Object.Verdict().Unpack()
		isScaled := of.Reason == ScaledToZero
		if s.IsFailed(&n) {
			return s.Inherit(&n, verdict.Failed, s.Name(&n)+": ")
		}
		if isScaled && !of.Severity.IsProblem() {
			if isNeeded(s, &n) {
				subject.AddSourcesOf(s, &n)
				return s.ExplainBy(&n, verdict.Degraded, ScaledToZero, s.Name(&n)+": "+of.Sentence)
			}
			return s.Inherit(&n, s.Own.Severity, s.Name(&n)+": ")
		}
	}
	return nil
}

// ScaledToZero is the reason of a verdict on a Service that has no pods on purpose.
const ScaledToZero = "ScaledToZero"

// isNeeded reports whether requests to an alias fail although only the owner of another namespace has decided that its
// target has no pods: an Ingress or a route publishes the alias, and the namespace of the alias is in use. The target
// belongs to a workload that neither an autoscaler nor a controller scales.
func isNeeded(s *subject.Subject, target *neighbor.Neighbor) bool {
	by := target.Object.Verdict().Unpack().Cause
	if target.ID.Namespace() == s.ID.Namespace() || s.Selector(target.ID) == nil || by == nil || !isPublished(s) {
		return false
	}
	s.RevisitAt(s.Now().Add(subject.SettleTime)) // New pods and autoscalers cause no evaluation of the alias.
	workload := neighbor.IDOf(&by.Object)
	_, owners := s.References(workload)
	users, isComplete := subject.UsersOf(s, workload, neighbor.Limit)
	canScale := func(id graph.ID) bool { return id.Kind.Kind != "Event" } // Any other user is possibly an autoscaler.
	if workload.Group != "apps" || len(owners) > 0 || !isComplete || slices.ContainsFunc(users, canScale) {
		return false
	}
	for _, n := range s.All(graph.Kind{Kind: "Pod"}, s.ID.Namespace(), neighbor.Limit) {
		if p := neighbor.Decode[corev1.Pod](n.Object); neighbor.IsReady(&p) {
			subject.Follow(s, &n)
			return true
		}
	}
	return false
}

// isPublished reports whether an Ingress or a route of the Gateway API sends requests to the subject.
func isPublished(s *subject.Subject) bool {
	return slices.ContainsFunc(s.Users(s.ID, neighbor.Limit), func(id graph.ID) bool {
		return id.Group == "networking.k8s.io" && id.Kind.Kind == "Ingress" || id.Group == resource.GatewayGroup
	})
}

// Stopped explains a subject that sends requests to a Service, if this is an alias for a Service without pods.
func Stopped(s *subject.Subject, n *neighbor.Neighbor, o *corev1.Service) *verdict.Verdict {
	isStopped := n.Object.Verdict().Unpack().Reason == ScaledToZero && s.HasProblem(n)
	if o.Spec.Type != corev1.ServiceTypeExternalName || !isStopped {
		return nil
	}
	return s.Inherit(n, verdict.Degraded, s.Name(n)+": ")
}
