package traffic

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/traffic/ports"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const slicesRef = "discovery.k8s.io/v1/endpointslices"

//nolint:gochecknoglobals // Constant.
var sliceKind = graph.Kind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}

// manualEndpoints explains why a Service without a selector does not respond. Kubernetes creates no EndpointSlices for
// it. A headless Service is skipped: DNS serves its addresses without the ports, so wrong ports do no harm.
func manualEndpoints(s *subject.Subject, o *corev1.Service) *verdict.Verdict {
	isHeadless := o.Spec.ClusterIP == corev1.ClusterIPNone
	if isHeadless || o.Spec.ClusterIP == "" || len(o.Spec.Ports) == 0 || s.Own.Severity > verdict.OK {
		return nil // No proxy uses these EndpointSlices, or the Service has a problem of its own, which has priority.
	}
	endpoints, isComplete := endpointSlices(s, s.ID)
	if !isComplete {
		return nil
	}
	s.AddSource(slicesRef, s.ID.Namespace())
	switch {
	case len(endpoints) == 0:
		return noSlices(s)
	case !s.IsSettled() || s.OrderlyOwner(verdict.OK) != nil:
		return nil
	}
	if families := ipFamilies(o); !slices.ContainsFunc(endpoints, func(e discovery.EndpointSlice) bool {
		return slices.Contains(families, string(e.AddressType))
	}) {
		return s.Explain(verdict.Failed, "NoEndpoints", fmt.Sprintf(
			noEndpoints+"the EndpointSlice %s has the address type %s, but the IP families of the Service are %s",
			endpoints[0].Name, endpoints[0].AddressType, strings.Join(families, ", ")), nil)
	}
	if v := unreadyEndpoints(s, o, endpoints); v != nil {
		return v
	}
	return unservedPorts(s, o, endpoints)
}

// endpointSlices returns the EndpointSlices of a Service without a selector: those whose label names the Service.
// isComplete is false if there are possibly more.
func endpointSlices(s *subject.Subject, service graph.ID) (found []discovery.EndpointSlice, isComplete bool) {
	users, isComplete := subject.UsersOf(s, service, neighbor.Limit)
	if !isComplete || !subject.KnowsAll(s, sliceKind, service.Namespace()) {
		return nil, false
	}
	for _, id := range users {
		if n := s.Find(id); n.ID.Kind == sliceKind && n.Object != nil {
			found = append(found, neighbor.Decode[discovery.EndpointSlice](n.Object))
		}
	}
	slices.SortFunc(found, func(a, b discovery.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	return found, true
}

// noSlices reports a Service for which no EndpointSlice has endpoints. If an EndpointSlice has a matching name, but
// lacks the label with the name of the Service, noSlices names this EndpointSlice as the cause.
func noSlices(s *subject.Subject) *verdict.Verdict {
	for _, n := range s.All(sliceKind, s.ID.Namespace(), neighbor.Limit) {
		e := neighbor.Decode[discovery.EndpointSlice](n.Object)
		isNamed := slices.Contains(neighbor.ServiceNames(e.Name), s.ID.Name())
		if isNamed && e.Labels[discovery.LabelServiceName] == "" {
			return s.ExplainBy(&n, verdict.Failed, "NoEndpoints", fmt.Sprintf(
				noEndpoints+"EndpointSlice %s lacks the label %s, so it has no effect", e.Name, discovery.LabelServiceName))
		}
	}
	if !s.IsSettled() || !isUserMade(s) {
		return nil
	}
	return s.Explain(verdict.Degraded, "NoEndpoints",
		noEndpoints+"it has no selector, and no EndpointSlice has endpoints for it", nil)
}

// isUserMade reports whether a person probably created the Service: it has no owner, no finalizer, and no label or
// annotation with the domain of a product. A product, such as a service mesh, can manage its endpoints itself.
func isUserMade(s *subject.Subject) bool {
	o := neighbor.Decode[corev1.Service](s.Object)
	if len(o.OwnerReferences) > 0 || len(o.Finalizers) > 0 {
		return false
	}
	for _, names := range []map[string]string{o.Labels, o.Annotations} {
		for name := range names {
			domain, _, ok := strings.Cut(name, "/")
			if ok && !isToolDomain(domain) {
				return false
			}
		}
	}
	return true
}

// isToolDomain reports whether the domain of a label or an annotation belongs to Kubernetes, or to a tool that only
// applies manifests.
func isToolDomain(domain string) bool {
	return slices.ContainsFunc([]string{
		"kubernetes.io", "k8s.io", "helm.sh", "argoproj.io", "toolkit.fluxcd.io",
	}, func(tool string) bool { return domain == tool || strings.HasSuffix(domain, "."+tool) })
}

func ipFamilies(o *corev1.Service) (families []string) {
	for _, family := range o.Spec.IPFamilies {
		families = append(families, string(family))
	}
	if len(families) == 0 {
		families = []string{string(corev1.IPv4Protocol), string(corev1.IPv6Protocol)}
	}
	return families
}

// unreadyEndpoints explains a Service whose EndpointSlices contain no address, or only addresses that are not ready.
func unreadyEndpoints(s *subject.Subject, o *corev1.Service, all []discovery.EndpointSlice) *verdict.Verdict {
	addresses, usable := 0, 0
	for n := range all {
		for _, e := range all[n].Endpoints {
			addresses += len(e.Addresses)
			isServing := e.Conditions.Serving == nil || *e.Conditions.Serving
			if e.Conditions.Ready == nil || *e.Conditions.Ready || o.Spec.PublishNotReadyAddresses ||
				isServing && e.Conditions.Terminating != nil && *e.Conditions.Terminating {
				usable++
			}
		}
	}
	switch {
	case usable > 0 || addresses == 0 && !isUserMade(s):
		return nil
	case addresses == 0:
		return s.Explain(verdict.Degraded, "NoEndpoints", noEndpoints+"its EndpointSlices are empty", nil)
	}
	sentence := fmt.Sprintf(noEndpoints+"none of %d addresses in its EndpointSlices is ready", addresses)
	if addresses == 1 {
		sentence = noEndpoints + "the only address in its EndpointSlices is not ready"
	}
	return s.Explain(verdict.Failed, "NoReadyEndpoints", sentence, nil)
}

// unservedPorts explains a Service with a port whose name and protocol are in no EndpointSlice. kube-proxy matches the
// ports by their names.
func unservedPorts(s *subject.Subject, o *corev1.Service, all []discovery.EndpointSlice) *verdict.Verdict {
	offered := offeredPorts(all)
	var missing []string
	for n := range o.Spec.Ports {
		p := &o.Spec.Ports[n]
		if !slices.Contains(offered, portText(p.Name, p.Protocol)) {
			missing = append(missing, servicePortText(p))
		}
	}
	if len(missing) == 0 || len(missing) < len(o.Spec.Ports) && !isUserMade(s) {
		return nil
	}
	severity := verdict.Degraded
	if len(missing) == len(o.Spec.Ports) {
		severity = verdict.Failed
	}
	has := "only the ports " + strings.Join(offered, ", ")
	switch len(offered) {
	case 0:
		has = "no ports"
	case 1:
		has = "only port " + offered[0]
	}
	problem := "Service port %s has no endpoints"
	if len(missing) > 1 {
		problem = "Service ports %s have no endpoints"
	}
	return s.Explain(severity, ports.Reason, fmt.Sprintf(
		problem+": the EndpointSlices of the Service have %s. The port name and protocol must match in the "+
			"Service and its EndpointSlices", strings.Join(missing, ", "), has), nil)
}

// offeredPorts returns the texts of the ports of EndpointSlices, sorted, and each only once.
func offeredPorts(all []discovery.EndpointSlice) (offered []string) {
	for n := range all {
		for _, p := range all[n].Ports {
			var name string
			var protocol corev1.Protocol
			if p.Name != nil {
				name = *p.Name
			}
			if p.Protocol != nil {
				protocol = *p.Protocol
			}
			offered = append(offered, portText(name, protocol))
		}
	}
	slices.Sort(offered)
	return slices.Compact(offered)
}

// servicePortText returns the name, or else the number, and the protocol of a Service's port.
func servicePortText(p *corev1.ServicePort) string {
	if p.Name == "" {
		return fmt.Sprintf("%d (%s, unnamed)", p.Port, cmp.Or(p.Protocol, corev1.ProtocolTCP))
	}
	return portText(p.Name, p.Protocol)
}

// portText returns the name and the protocol of a port, such as "web" (TCP).
func portText(name string, protocol corev1.Protocol) string {
	text := "unnamed"
	if name != "" {
		text = strconv.Quote(name)
	}
	return fmt.Sprintf("%s (%s)", text, cmp.Or(protocol, corev1.ProtocolTCP))
}

// externalAddress explains a Service of the type ExternalName whose name is an IP address. No DNS server resolves such
// a name, but an Ingress controller can use it.
func externalAddress(s *subject.Subject, o *corev1.Service) *verdict.Verdict {
	if _, err := netip.ParseAddr(o.Spec.ExternalName); err != nil || !s.IsSettled() {
		return nil
	}
	users, isComplete := subject.UsersOf(s, s.ID, neighbor.Limit)
	isUse := func(id graph.ID) bool { return id.Kind.Kind != "Event" }
	if !isComplete || slices.ContainsFunc(users, isUse) {
		return nil // Another object, such as an Ingress, uses the Service, possibly without DNS.
	}
	return subject.ExplainAlone(s, verdict.Degraded, "InvalidExternalName", fmt.Sprintf(
		"The external name %s is an IP address, which DNS cannot resolve: use an EndpointSlice instead", o.Spec.ExternalName))
}
