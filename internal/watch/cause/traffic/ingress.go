package traffic

import (
	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Ingress explains why requests to an Ingress reach no pod.
func Ingress(s *subject.Subject) *verdict.Verdict {
	o := neighbor.Decode[networking.Ingress](s.Object)
	if class := o.Spec.IngressClassName; class != nil {
		kind := graph.Kind{Group: "networking.k8s.io", Kind: "IngressClass"}
		if n := s.Find(graph.NewID(kind, "", *class)); n.Presence == neighbor.Missing {
			return s.ReportMissing(&n, verdict.Failed)
		}
	}
	if v := brokenPaths(s, ingressPaths(s.ID.Namespace(), &o.Spec)); v != nil {
		return v
	}
	if target := s.FirstMissing(subject.In("spec.tls")); target != nil {
		return s.ReportMissing(target, verdict.Degraded)
	}
	if len(o.Status.LoadBalancer.Ingress) == 0 {
		return s.RepeatedWarning("No address assigned: ")
	}
	return nil
}

// ingressPaths returns the Services to which an Ingress sends requests.
func ingressPaths(namespace string, spec *networking.IngressSpec) (paths []path) {
	add := func(at string, b *networking.IngressBackend) {
		if b != nil && b.Service != nil {
			paths = append(paths, path{at, namespace, b.Service.Name, b.Service.Port.Number, b.Service.Port.Name})
		}
	}
	add("the default backend", spec.DefaultBackend)
	for n := range spec.Rules {
		r := &spec.Rules[n]
		if r.HTTP == nil {
			continue
		}
		for m := range r.HTTP.Paths {
			add(r.Host+r.HTTP.Paths[m].Path, &r.HTTP.Paths[m].Backend)
		}
	}
	return paths
}
