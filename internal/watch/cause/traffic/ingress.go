package traffic

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Ingress explains an Ingress whose requests reach no pod, that has no address, or that refers to a missing Secret or
// an expired certificate.
func Ingress(s *subject.Subject) *verdict.Verdict {
	o := neighbor.Decode[networking.Ingress](s.Object)
	if class := o.Spec.IngressClassName; class != nil {
		kind := graph.Kind{Group: "networking.k8s.io", Kind: "IngressClass"}
		if n := s.Find(graph.NewID(kind, "", *class)); n.Presence == neighbor.Missing {
			return s.ReportMissing(&n, verdict.Failed)
		}
	}
	paths := ingressPaths(s.ID.Namespace(), &o.Spec)
	if v := brokenPaths(s, paths); v != nil {
		return v
	}
	if target := s.FirstMissing(subject.In("spec.tls")); target != nil {
		return s.ReportMissing(target, verdict.Degraded)
	}
	if v := expiredCertificate(s); v != nil {
		return v
	}
	if v := missingSecret(s, &o); v != nil {
		return v
	}
	if v := brokenAuthentication(s, &o); v != nil {
		return v
	}
	if len(o.Status.LoadBalancer.Ingress) > 0 {
		return unhealthyBackends(s, &o, paths)
	}
	if v := withoutController(s, &o); v != nil {
		return v
	}
	v := s.RepeatedWarning("No address assigned: ")
	if v != nil && strings.Contains(v.Sentence, "BackendConfig") {
		if c := missingConfiguration(s, paths, v.Sentence); c != nil {
			v.Sentence, v.Cause = c.Sentence, c
		}
	}
	return v
}

// withoutController explains an Ingress without an address and without events by the workload of its controller, if
// this workload does not run. By convention, a setting of the workload contains the class or its controller's name.
func withoutController(s *subject.Subject, o *networking.Ingress) *verdict.Verdict {
	name := className(o)
	if name == "" || !s.IsSettled() || s.NewestEvent(func(*corev1.Event) bool { return true }) != nil {
		return nil
	}
	names := []string{name}
	class := s.Find(graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "IngressClass"}, "", name))
	if controller := neighbor.Decode[networking.IngressClass](class.Object).Spec.Controller; controller != "" {
		names = append(names, controller)
	}
	v := subject.ClassController(s, "No address assigned", names...)
	if v != nil && class.Object != nil {
		s.AddSource(class.Resource, "")
	}
	return v
}

// defaultBackend is the text for the backend to which an Ingress sends requests that match no rule.
const defaultBackend = "The default backend"

// ingressPaths returns the paths of an Ingress in the namespace, each with the Service to which it sends requests.
func ingressPaths(namespace string, spec *networking.IngressSpec) (paths []path) {
	add := func(at string, b *networking.IngressBackend) {
		if b != nil && b.Service != nil {
			paths = append(paths, path{at, namespace, b.Service.Name, b.Service.Port.Number, b.Service.Port.Name})
		}
	}
	add(defaultBackend, spec.DefaultBackend)
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

// expiredCertificate explains an Ingress with an expired certificate by the Certificate object (such as that of
// cert-manager) whose controller writes this certificate into the Secret of the Ingress.
func expiredCertificate(s *subject.Subject) *verdict.Verdict {
	for secret := range s.Used(subject.In("spec.tls")) {
		for _, n := range s.Existing(s.Users(secret.ID, neighbor.Limit)) {
			if n.ID.Kind.Kind != "Certificate" || !s.HasProblem(&n) {
				continue
			}
			notAfter := neighbor.Decode[struct {
				Status struct {
					NotAfter time.Time `json:"notAfter"`
				} `json:"status"`
			}](n.Object).Status.NotAfter
			if !notAfter.IsZero() && subject.HasPassed(s, notAfter) {
				return s.Inherit(&n, verdict.Degraded, "The certificate has expired: "+n.String()+": ")
			}
		}
	}
	return nil
}
