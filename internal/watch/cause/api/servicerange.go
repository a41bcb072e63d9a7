package api

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxServices limits the Services that are searched for an address.
const maxServices = 20 * neighbor.Limit

// ServiceRange explains a ServiceCIDR whose deletion does not end: a Service still has an address of this range, and no
// other ServiceCIDR contains this address.
func ServiceRange(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason != subject.Terminating || !s.Own.Severity.IsProblem() {
		return nil
	}
	own, others := prefixesOf(&s.Neighbor), []netip.Prefix(nil)
	ranges, isComplete := subject.AllOf(s, s.ID.Kind, "", neighbor.Limit)
	if !isComplete {
		return nil // Another range possibly contains the address.
	}
	for _, n := range ranges {
		if n.ID != s.ID && neighbor.Decode[networking.ServiceCIDR](n.Object).DeletionTimestamp == nil {
			others = append(others, prefixesOf(&n)...)
		}
	}
	for _, n := range s.All(graph.Kind{Kind: "Service"}, neighbor.AnyNamespace, maxServices) {
		for _, text := range neighbor.Decode[corev1.Service](n.Object).Spec.ClusterIPs {
			address, err := netip.ParseAddr(text)
			contains := func(p netip.Prefix) bool { return p.Contains(address) }
			if err != nil || !slices.ContainsFunc(own, contains) || slices.ContainsFunc(others, contains) {
				continue
			}
			subject.Follow(s, &n)
			return s.ExplainBy(&n, verdict.Degraded, s.Own.Reason, subject.Sentences(s.Own.Sentence,
				s.Name(&n)+" still has the address "+text+" of this range"))
		}
	}
	return nil
}

func prefixesOf(n *neighbor.Neighbor) (prefixes []netip.Prefix) {
	for _, text := range neighbor.Decode[networking.ServiceCIDR](n.Object).Spec.CIDRs {
		if p, err := netip.ParsePrefix(text); err == nil {
			prefixes = append(prefixes, p)
		}
	}
	return prefixes
}
