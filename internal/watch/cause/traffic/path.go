package traffic

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/traffic/ports"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// path is one backend of an Ingress or a route: a Service and its port.
type path struct {
	at, namespace, name string
	port                int32  // 0 if the port is named.
	portName            string // Empty if the port is a number.
}

// brokenPaths returns the verdict for the first path that reaches no pod, or nil. The severity is Failed if no path
// reaches a pod. Otherwise, it is Degraded, or the subject's own severity if that is worse.
func brokenPaths(s *subject.Subject, paths []path) *verdict.Verdict {
	var first *verdict.Verdict
	var broken []*path
	for n := range paths {
		if v := brokenPath(s, &paths[n]); v != nil {
			first, broken = cmp.Or(first, v), append(broken, &paths[n])
		}
	}
	if first == nil {
		return nil
	}
	if at := broken[0].at; at != "" {
		first.Sentence = at + ": " + first.Sentence
	}
	if at := broken[0].at; at != defaultBackend {
		first.Rule = at
	}
	if len(broken) < len(paths) {
		first.Severity = max(verdict.Degraded, s.Own.Severity)
	}
	if text := otherPaths(s, paths, broken); text != "" {
		first.Sentence = subject.Sentences(first.Sentence, text)
	}
	return first
}

// otherPaths states how many other paths than the first broken one reach no pod, or returns "". Paths with the same
// host, path and rule count once.
func otherPaths(s *subject.Subject, paths []path, broken []*path) string {
	all, withoutPods := make(map[string]struct{}), make(map[string]struct{})
	for n := range paths {
		all[paths[n].at] = struct{}{}
	}
	for _, p := range broken {
		if p.at != broken[0].at {
			withoutPods[p.at] = struct{}{}
			s.AddSource("core/v1/services", p.namespace)
		}
	}
	others := len(all) - 1
	switch count := len(withoutPods); {
	case count == 0:
		return ""
	case others == 1:
		return "The other path does not reach a pod either"
	case count == 1:
		return fmt.Sprintf("In addition, 1 of %d other paths reaches no pod", others)
	default:
		return fmt.Sprintf("In addition, %d of %d other paths reach no pod", count, others)
	}
}

func brokenPath(s *subject.Subject, p *path) *verdict.Verdict {
	n := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, p.namespace, p.name))
	if n.Presence == neighbor.Missing {
		return s.ReportMissing(&n, verdict.Failed)
	}
	if n.Object == nil {
		return nil
	}
	o := neighbor.Decode[corev1.Service](n.Object)
	if !p.isServedBy(&o) {
		port := cmp.Or(p.portName, strconv.Itoa(int(p.port)))
		return s.ExplainBy(&n, verdict.Failed, ports.Reason, fmt.Sprintf("%s has no port %s", s.Name(&n), port))
	}
	if s.IsFailed(&n) {
		return s.Inherit(&n, verdict.Failed, s.Name(&n)+": ")
	}
	if v := p.unserved(s, &n, &o); v != nil {
		return v
	}
	if hasNoEndpoints(s, &n, &o) {
		s.AddSource(slicesRef, p.namespace)
		return s.ExplainBy(&n, verdict.Failed, "NoEndpoints", s.Name(&n)+" has no selector and no EndpointSlice")
	}
	return nil
}

// hasNoEndpoints reports whether a Service has no selector, and no EndpointSlice that a user created for it.
func hasNoEndpoints(s *subject.Subject, n *neighbor.Neighbor, o *corev1.Service) bool {
	if o.Spec.Type == corev1.ServiceTypeExternalName || len(o.Spec.Selector) > 0 {
		return false
	}
	endpoints, isComplete := endpointSlices(s, n.ID)
	return isComplete && len(endpoints) == 0
}

// isServedBy reports whether the Service has the port of the path.
func (p *path) isServedBy(o *corev1.Service) bool {
	if o.Spec.Type == corev1.ServiceTypeExternalName && len(o.Spec.Ports) == 0 || p.port == 0 && p.portName == "" {
		return true
	}
	return slices.ContainsFunc(o.Spec.Ports, p.isPort)
}

func (p *path) isPort(port corev1.ServicePort) bool {
	if p.portName != "" {
		return port.Name == p.portName
	}
	return port.Port == p.port
}

// unserved explains a path by its port of a Service, if this port has no endpoints, but another port has.
func (p *path) unserved(s *subject.Subject, n *neighbor.Neighbor, o *corev1.Service) *verdict.Verdict {
	at := slices.IndexFunc(o.Spec.Ports, p.isPort)
	if at < 0 || !s.HasProblem(n) || n.Object.Verdict().Unpack().Reason != ports.Reason {
		return nil
	}
	subject.Follow(s, n) // A change of the pods then causes another evaluation.
	only, service := *o, subject.New(s.Cluster, *n)
	only.Spec.Ports = o.Spec.Ports[at : at+1]
	var v *verdict.Verdict
	if selector := s.Selector(n.ID); selector != nil {
		s.AddSource(subject.PodsRef, p.namespace)
		pods := newSelection(s, p.namespace, selector)
		if pods.read(maxPods); len(pods.ready) > 0 && pods.isComplete {
			v = ports.Missing(service, &only, pods.ready)
		}
	} else if endpoints, isComplete := endpointSlices(s, n.ID); isComplete {
		s.AddSource(slicesRef, p.namespace)
		v = unservedPorts(service, &only, endpoints)
	}
	if v == nil {
		return nil
	}
	return s.ExplainBy(n, verdict.Failed, ports.Reason, s.Name(n)+": "+v.Sentence)
}
