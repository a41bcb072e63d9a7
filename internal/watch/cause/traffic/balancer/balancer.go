// Package balancer explains Services of the type LoadBalancer that get no address.
package balancer

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Explain explains a Service that gets no address by another Service that has the requested address, by a pool that
// assigns its addresses only on request, or by the failed DaemonSet that forwards connections to it. ServiceLB of K3s
// creates such DaemonSets. Their labels name the Service.
func Explain(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason != "LoadBalancerPending" || !s.Own.Severity.IsProblem() {
		return nil
	}
	if v := addressTaken(s); v != nil {
		return v
	}
	if v := unassigned(s); v != nil {
		return v
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

// addressUser matches the namespace and the name of a Service that has the address which another Service requests.
var addressUser = regexp.MustCompile(`(?i)\b(?:(?:in use|used) by|(?:allocated|assigned) to) (?:the )?(?:service )?` +
	"[\"'`]" + `?([a-z0-9-]+)/([a-z0-9-]+)\b`)

// addressTaken explains a Service that gets no address by another Service, which has the requested address according to
// the newest warning.
func addressTaken(s *subject.Subject) *verdict.Verdict {
	last := s.NewestEvent(subject.IsWarning)
	if last == nil {
		return nil
	}
	found := addressUser.FindStringSubmatch(last.Message)
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(s.ID.Kind, found[1], found[2]))
	subject.Follow(s, &n)
	addresses := neighbor.Decode[corev1.Service](n.Object).Status.LoadBalancer.Ingress
	isRequested := func(of corev1.LoadBalancerIngress) bool {
		return of.IP != "" && (bytes.Contains(s.Text(), []byte(of.IP)) || strings.Contains(last.Message, of.IP))
	}
	if !slices.ContainsFunc(addresses, isRequested) {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.ExplainBy(&n, verdict.Degraded, last.Reason, s.Own.Sentence+": "+last.Message)
}
