package operator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Balancer explains a Service that gets no address by the failed DaemonSet that forwards connections to it. Labels of
// its pods name the Service. For example, ServiceLB, a load balancer of K3s, sets them.
func Balancer(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason != "LoadBalancerPending" || !s.Own.Severity.IsProblem() {
		return nil
	}
	all := s.All(graph.Kind{Group: "apps", Kind: "DaemonSet"}, neighbor.AnyNamespace, 10*neighbor.Limit)
	all = slices.DeleteFunc(all, func(n neighbor.Neighbor) bool { return !s.HasProblem(&n) || !forwardsTo(&n, s.ID) })
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
