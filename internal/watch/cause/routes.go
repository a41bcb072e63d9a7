package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// path is one backend of a route: a Service and its port.
type path struct {
	at, namespace, name string
	port                int32  // 0 if the port is named.
	portName            string // Empty if the port is a number.
}

// ingress explains why requests to an Ingress reach no pod.
func ingress(s *subject) *verdict.Verdict {
	o := neighbor.Decode[networking.Ingress](s.Object)
	if class := o.Spec.IngressClassName; class != nil {
		kind := graph.Kind{Group: "networking.k8s.io", Kind: "IngressClass"}
		if n := s.Find(graph.NewID(kind, "", *class)); n.Presence == neighbor.Missing {
			return s.missing(verdict.Failed, &n)
		}
	}
	var paths []path
	add := func(where string, b *networking.IngressBackend) {
		if b == nil || b.Service == nil {
			return
		}
		paths = append(paths, path{where, s.ID.Namespace(), b.Service.Name, b.Service.Port.Number, b.Service.Port.Name})
	}
	add("the default backend", o.Spec.DefaultBackend)
	for n := range o.Spec.Rules {
		r := &o.Spec.Rules[n]
		if r.HTTP == nil {
			continue
		}
		for m := range r.HTTP.Paths {
			add(r.Host+r.HTTP.Paths[m].Path, &r.HTTP.Paths[m].Backend)
		}
	}
	if v := s.brokenPaths(paths); v != nil {
		return v
	}
	if target := s.firstMissing(func(u *graph.Use) bool { return strings.HasPrefix(u.Via, "spec.tls") }); target != nil {
		return s.missing(verdict.Degraded, target)
	}
	if len(o.Status.LoadBalancer.Ingress) == 0 {
		return rejected(s)
	}
	return nil
}

// brokenPaths returns the verdict for the first path that reaches no pod. The severity is Failed if no path reaches a
// pod, and otherwise at least Degraded.
func (s *subject) brokenPaths(paths []path) *verdict.Verdict {
	var first *verdict.Verdict
	broken := 0
	for n := range paths {
		p := &paths[n]
		v := s.brokenPath(p)
		if v == nil {
			continue
		}
		broken++
		if first == nil {
			first = v
			if p.at != "" {
				first.Sentence, first.Rule = p.at+": "+first.Sentence, p.at
			}
		}
	}
	if first != nil && broken < len(paths) {
		first.Severity = max(verdict.Degraded, s.own.Severity)
	}
	return first
}

func (s *subject) brokenPath(p *path) *verdict.Verdict {
	n := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, p.namespace, p.name))
	if n.Presence == neighbor.Missing {
		return s.missing(verdict.Failed, &n)
	}
	if n.Object == nil {
		return nil
	}
	o := neighbor.Decode[corev1.Service](n.Object)
	if !servesPort(&o, p) {
		port := p.portName
		if port == "" {
			port = strconv.Itoa(int(p.port))
		}
		sentence := fmt.Sprintf("Service %s has no port %s", p.name, port)
		return s.inherit(verdict.Failed, "NoSuchPort", sentence, &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: sentence})
	}
	if hasNoEndpoints(s, &n, &o) {
		sentence := fmt.Sprintf("Service %s has no selector and no EndpointSlice", p.name)
		s.readsIn("discovery.k8s.io/v1/endpointslices", p.namespace)
		return s.inherit(verdict.Failed, "NoEndpoints", sentence, &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: sentence})
	}
	if s.hasProblem(&n) && n.Object.Verdict().Severity() == verdict.Failed {
		return s.because(verdict.Failed, &n, "Service "+p.name+": ")
	}
	return nil
}

var sliceKind = graph.Kind{Group: "discovery.k8s.io", Kind: "EndpointSlice"} //nolint:gochecknoglobals // Constant.

// hasNoEndpoints reports whether a Service without selector has no endpoints, which users must create.
func hasNoEndpoints(s *subject, n *neighbor.Neighbor, o *corev1.Service) bool {
	if o.Spec.Type == corev1.ServiceTypeExternalName || len(o.Spec.Selector) > 0 {
		return false
	}
	if s.Find(graph.NewID(sliceKind, n.ID.Namespace(), "")).Presence != neighbor.Missing {
		return false // The EndpointSlices are not known completely.
	}
	return !slices.ContainsFunc(s.Users(n.ID, neighbor.Limit), func(id graph.ID) bool { return id.Kind == sliceKind })
}

func servesPort(o *corev1.Service, p *path) bool {
	if o.Spec.Type == corev1.ServiceTypeExternalName && len(o.Spec.Ports) == 0 || p.port == 0 && p.portName == "" {
		return true
	}
	for n := range o.Spec.Ports {
		if p.portName != "" && o.Spec.Ports[n].Name == p.portName || p.portName == "" && o.Spec.Ports[n].Port == p.port {
			return true
		}
	}
	return false
}

type gatewayRoute struct {
	Spec struct {
		Hostnames []string `json:"hostnames"`
		Rules     []struct {
			BackendRefs []struct {
				Group     *string `json:"group"`
				Kind      *string `json:"kind"`
				Name      string  `json:"name"`
				Namespace string  `json:"namespace"`
				Port      int32   `json:"port"`
			} `json:"backendRefs"`
		} `json:"rules"`
	} `json:"spec"`
}

// route explains why requests to a route of the Gateway API reach no pod.
func route(s *subject) *verdict.Verdict {
	isParent := func(u *graph.Use) bool { return strings.HasPrefix(u.Via, "spec.parentRefs") }
	if target := s.firstMissing(isParent); target != nil {
		return s.missing(verdict.Failed, target)
	}
	paths := routePaths(s)
	for n := range paths {
		if paths[n].namespace != s.ID.Namespace() {
			if v := s.notGranted(paths[n].namespace, paths[n].name); v != nil {
				return v
			}
		}
	}
	if v := s.brokenPaths(paths); v != nil {
		return v
	}
	uses, _ := s.References(s.ID)
	for n := range uses {
		if strings.HasPrefix(uses[n].Via, "spec.parentRefs") {
			if gateway := s.Find(uses[n].Target); s.hasProblem(&gateway) {
				return s.because(gateway.Object.Verdict().Severity(), &gateway, "Gateway "+gateway.ID.Name()+": ")
			}
		}
	}
	return nil
}

// routePaths returns the Services to which a route of the Gateway API sends requests.
func routePaths(s *subject) (paths []path) {
	o := neighbor.Decode[gatewayRoute](s.Object)
	where := ""
	if len(o.Spec.Hostnames) > 0 {
		where = o.Spec.Hostnames[0]
	}
	for n := range o.Spec.Rules {
		for _, b := range o.Spec.Rules[n].BackendRefs {
			if b.Kind != nil && *b.Kind != "Service" || b.Group != nil && *b.Group != "" {
				continue
			}
			paths = append(paths, path{where, cmp.Or(b.Namespace, s.ID.Namespace()), b.Name, b.Port, ""})
		}
	}
	return paths
}

// notGranted returns a verdict if no ReferenceGrant permits the route to use a Service of another namespace.
func (s *subject) notGranted(namespace, name string) *verdict.Verdict {
	kind := graph.Kind{Group: gatewayGroup, Kind: "ReferenceGrant"}
	if s.Find(graph.NewID(kind, namespace, "")).Presence != neighbor.Missing {
		return nil // The grants are not known completely.
	}
	grants := s.All(kind, namespace, neighbor.Limit)
	s.readsIn(gatewayGroup+"/v1beta1/referencegrants", namespace)
	for n := range grants {
		g := neighbor.Decode[struct {
			Spec struct {
				From []struct {
					Group     string `json:"group"`
					Kind      string `json:"kind"`
					Namespace string `json:"namespace"`
				} `json:"from"`
				To []struct {
					Group string `json:"group"`
					Kind  string `json:"kind"`
					Name  string `json:"name"`
				} `json:"to"`
			} `json:"spec"`
		}](grants[n].Object)
		for _, from := range g.Spec.From {
			for _, to := range g.Spec.To {
				if from.Group == gatewayGroup && from.Kind == s.ID.Kind.Kind && from.Namespace == s.ID.Namespace() &&
					to.Group == "" && to.Kind == "Service" && (to.Name == "" || to.Name == name) {
					return nil
				}
			}
		}
	}
	target := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, namespace, name))
	sentence := fmt.Sprintf("No ReferenceGrant in namespace %s permits the use of Service %s", namespace, name)
	return s.inherit(verdict.Failed, "RefNotPermitted", sentence, &verdict.Cause{
		Object: withResource(neighbor.ObjectOf(&target), "core/v1/services"), Sentence: sentence,
	})
}
