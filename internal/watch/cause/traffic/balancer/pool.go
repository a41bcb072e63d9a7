package balancer

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// addressPool is the part of an IPAddressPool of MetalLB that shows which Services get its addresses.
type addressPool struct {
	Spec struct {
		AutoAssign        *bool `json:"autoAssign"` // The default is true.
		ServiceAllocation *struct {
			Namespaces         []string `json:"namespaces"`
			NamespaceSelectors []any    `json:"namespaceSelectors"`
			ServiceSelectors   []any    `json:"serviceSelectors"`
		} `json:"serviceAllocation"`
	} `json:"spec"`
}

// serves reports whether the pool possibly assigns an address to a Service of a namespace that requests none.
func (p *addressPool) serves(namespace string) bool {
	of := p.Spec.ServiceAllocation
	isForOthers := of != nil && len(of.Namespaces) > 0 && len(of.NamespaceSelectors) == 0 &&
		!slices.Contains(of.Namespaces, namespace)
	return ptr.Deref(p.Spec.AutoAssign, true) && !isForOthers
}

// unassigned explains a Service to which MetalLB assigns no address by a pool with the setting "autoAssign: false". The
// Service requests no pool and no address, and no other pool can serve the Service.
func unassigned(s *subject.Subject) *verdict.Verdict {
	last := s.NewestEvent(subject.IsWarning)
	if last == nil || last.Reason != "AllocationFailed" ||
		!strings.Contains(cmp.Or(last.Source.Component, last.ReportingController), "metallb") || requests(s) {
		return nil
	}
	var cause *neighbor.Neighbor
	pools := poolsOf(s)
	for n := range pools {
		pool := neighbor.Decode[addressPool](pools[n].Object)
		switch {
		case pool.serves(s.ID.Namespace()):
			return nil
		case pool.Spec.ServiceAllocation == nil && (cause == nil || pools[n].ID.Key < cause.ID.Key):
			cause = &pools[n]
		}
	}
	if cause == nil {
		return nil
	}
	subject.Follow(s, cause)
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.ExplainBy(cause, verdict.Degraded, last.Reason, subject.Sentences(s.Own.Sentence+": "+last.Message,
		s.Name(cause)+" assigns addresses only on request (autoAssign: false), and the Service requests none"))
}

// requests reports whether the subject requests an address or a pool.
func requests(s *subject.Subject) bool {
	o := neighbor.Decode[corev1.Service](s.Object)
	for key, value := range o.Annotations {
		domain, name, _ := strings.Cut(key, "/")
		isRequest := name == "address-pool" || name == "loadBalancerIPs"
		if strings.HasPrefix(domain, "metallb.") && isRequest && value != "" {
			return true
		}
	}
	return o.Spec.LoadBalancerIP != ""
}

// poolsOf returns the pools of the MetalLB that serves the subject. MetalLB reads only the pools of its own namespace.
// If several namespaces have pools and a MetalLB, poolsOf prefers the namespace of the subject. It returns nil if it is
// unknown which MetalLB serves the subject.
func poolsOf(s *subject.Subject) []neighbor.Neighbor {
	kind := graph.Kind{Group: "metallb.io", Kind: "IPAddressPool"}
	all, isComplete := subject.AllOf(s, kind, neighbor.AnyNamespace, neighbor.Limit)
	if !isComplete {
		return nil
	}
	pools := make(map[string][]neighbor.Neighbor)
	for _, n := range all {
		namespace := n.ID.Namespace()
		has, isKnown := hasMetalLB(s, namespace)
		if !isKnown {
			return nil
		}
		if has {
			pools[namespace] = append(pools[namespace], n)
		}
	}
	hasClass := neighbor.Decode[corev1.Service](s.Object).Spec.LoadBalancerClass != nil
	if len(pools) > 1 && !hasClass {
		return pools[s.ID.Namespace()]
	}
	if len(pools) > 1 {
		return nil
	}
	for _, only := range pools {
		return only
	}
	return nil
}

// hasMetalLB reports whether the controller of MetalLB runs in a namespace. isKnown is false if it possibly does.
func hasMetalLB(s *subject.Subject, namespace string) (has, isKnown bool) {
	all, isComplete := subject.AllOf(s, graph.Kind{Group: "apps", Kind: "Deployment"}, namespace, neighbor.Limit)
	has = slices.ContainsFunc(all, func(n neighbor.Neighbor) bool {
		return slices.ContainsFunc(subject.Template(&n).Spec.Containers, func(c corev1.Container) bool {
			return strings.Contains(c.Image, "metallb") && strings.Contains(c.Name+c.Image, "controller")
		})
	})
	return has, has || isComplete
}
