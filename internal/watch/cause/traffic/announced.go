package traffic

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Annotations with the pool of MetalLB from which a Service has its address, of new and old versions.
const (
	poolAnnotation    = "metallb.io/ip-allocated-from-pool"
	oldPoolAnnotation = "metallb.universe.tf/ip-allocated-from-pool"
)

// notAnnounced explains a Service with an address that MetalLB announces to no network: no advertisement includes the
// pool of the address, and one advertisement names only pools that do not exist. Without the latter, another program
// possibly announces the address, such as a BGP router.
func notAnnounced(s *subject.Subject, o *corev1.Service) *verdict.Verdict {
	pool := cmp.Or(o.Annotations[poolAnnotation], o.Annotations[oldPoolAnnotation])
	if pool == "" || o.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	var broken *neighbor.Neighbor
	for _, name := range []string{"BGPAdvertisement", "L2Advertisement"} {
		kind := graph.Kind{Group: "metallb.io", Kind: name}
		advertisements := s.All(kind, neighbor.AnyNamespace, neighbor.Limit)
		if !subject.KnowsAll(s, kind, "") || len(advertisements) == neighbor.Limit {
			return nil
		}
		for n := range advertisements {
			spec := neighbor.Decode[struct {
				Spec struct {
					Pools     []string `json:"ipAddressPools"`
					Selectors []any    `json:"ipAddressPoolSelectors"`
				} `json:"spec"`
			}](advertisements[n].Object).Spec
			subject.Follow(s, &advertisements[n])
			// Without pools and selectors, an advertisement includes all pools. A selector can match the pool.
			if len(spec.Pools) == 0 || len(spec.Selectors) > 0 || slices.Contains(spec.Pools, pool) {
				return nil
			}
			if namesNoPool(s, &advertisements[n], spec.Pools) {
				broken = &advertisements[n]
			}
		}
	}
	if broken == nil || !s.HasProblem(broken) {
		return nil
	}
	prefix := "No advertisement includes the pool " + pool + " of its address. " + broken.String() + ": "
	return s.Inherit(broken, verdict.Degraded, prefix)
}

// namesNoPool reports whether none of the pools that an advertisement names exists.
func namesNoPool(s *subject.Subject, advertisement *neighbor.Neighbor, pools []string) bool {
	return !slices.ContainsFunc(pools, func(name string) bool {
		kind := graph.Kind{Group: advertisement.ID.Group, Kind: "IPAddressPool"}
		return s.Find(graph.NewID(kind, advertisement.ID.Namespace(), name)).Presence != neighbor.Missing
	})
}
