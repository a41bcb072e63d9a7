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
	broken := 0
	for n := range paths {
		p := &paths[n]
		v := brokenPath(s, p)
		if v == nil {
			continue
		}
		broken++
		if first == nil {
			first = v
			if p.at != "" {
				first.Sentence = p.at + ": " + first.Sentence
			}
			if p.at != defaultBackend {
				first.Rule = p.at
			}
		}
	}
	if first != nil && broken < len(paths) {
		first.Severity = max(verdict.Degraded, s.Own.Severity)
	}
	return first
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
