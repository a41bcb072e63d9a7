package operator

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Balancer explains a Service that gets no address by the failed workload that forwards connections to it. The
// labels of the workload's pods name the Service, as ServiceLB does, the load balancer of some distributions.
func Balancer(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason != "LoadBalancerPending" || !s.Own.Severity.IsProblem() {
		return nil
	}
	all, _ := subject.Workloads(s, func([]corev1.Container) bool { return true }, s.ID.Name())
	all = slices.DeleteFunc(all, func(n neighbor.Neighbor) bool { return !forwardsTo(&n, s.ID) })
	for n := range all {
		subject.Follow(s, &all[n])
	}
	worst := s.Worst(all)
	if worst == nil {
		return nil
	}
	return s.Inherit(worst, verdict.Degraded, subject.Sentences(s.Own.Sentence, s.Name(worst)+": "))
}

// forwardsTo reports whether labels such as example.com/svcname and example.com/svcnamespace name a Service.
func forwardsTo(n *neighbor.Neighbor, service graph.ID) bool {
	labels := subject.Template(n).Labels
	for key, value := range labels {
		group, ok := strings.CutSuffix(key, "/svcname")
		namespace := cmp.Or(labels[group+"/svcnamespace"], n.ID.Namespace())
		if ok && value == service.Name() && namespace == service.Namespace() {
			return true
		}
	}
	return false
}
