// Package cause finds why an object does not work: a missing object, or a problem of an object that it owns, uses or
// selects. The rules are functions of an object and a limited number of its neighbors.
package cause

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// Of returns the verdict that an object inherits from its neighbors, or nil if it inherits none.
func Of(c neighbor.Cluster, n neighbor.Neighbor) *verdict.Verdict {
	if n.Object == nil {
		return nil
	}
	s := &subject{Cluster: c, Neighbor: n, own: n.Object.Verdict().Own().Unpack()}
	v := s.rule()(s)
	if v == nil {
		v = lastWarning(s)
	}
	if v == nil {
		return nil
	}
	v.Sources = v.Sources.With(s.sources)
	if v.Cause != nil {
		v.Sources = v.Sources.With(verdict.Source(v.Cause.Resource, v.Cause.Namespace))
	}
	if v.Cause != nil && v.Cause.Object == neighbor.ObjectOf(&n) {
		v.Cause = nil
	}
	return v
}

// subject is the object that is evaluated.
type subject struct {
	neighbor.Cluster
	neighbor.Neighbor

	own     verdict.Verdict
	sources verdict.Sources // The sources of the texts that the rule has read, without the source of the cause.
}

type rule func(*subject) *verdict.Verdict

func (s *subject) rule() rule {
	switch s.ID.Kind {
	case graph.Kind{Kind: "Pod"}:
		return pod
	case graph.Kind{Kind: "Service"}:
		return service
	case graph.Kind{Kind: "PersistentVolumeClaim"}:
		return claim
	case graph.Kind{Group: "apps", Kind: "Deployment"}, graph.Kind{Group: "apps", Kind: "ReplicaSet"},
		graph.Kind{Group: "apps", Kind: "StatefulSet"}, graph.Kind{Group: "apps", Kind: "DaemonSet"},
		graph.Kind{Kind: "ReplicationController"}:
		return workload
	case graph.Kind{Group: "batch", Kind: "Job"}:
		return job
	case graph.Kind{Group: "batch", Kind: "CronJob"}:
		return cronJob
	case graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}:
		return ingress
	case graph.Kind{Group: gatewayGroup, Kind: "HTTPRoute"}, graph.Kind{Group: gatewayGroup, Kind: "GRPCRoute"},
		graph.Kind{Group: gatewayGroup, Kind: "TLSRoute"}, graph.Kind{Group: gatewayGroup, Kind: "TCPRoute"},
		graph.Kind{Group: gatewayGroup, Kind: "UDPRoute"}:
		return route
	case graph.Kind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		return autoscaler
	case graph.Kind{Group: "policy", Kind: "PodDisruptionBudget"}:
		return disruptionBudget
	case graph.Kind{Group: admissionGroup, Kind: "ValidatingWebhookConfiguration"},
		graph.Kind{Group: admissionGroup, Kind: "MutatingWebhookConfiguration"}:
		return webhooks
	case apiServiceKind:
		return apiService
	case graph.Kind{Kind: "Namespace"}:
		return namespace
	case graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return definition
	case graph.Kind{Group: "argoproj.io", Kind: "Application"}:
		return application
	case graph.Kind{Group: rbacGroup, Kind: "RoleBinding"}, graph.Kind{Group: rbacGroup, Kind: "ClusterRoleBinding"}:
		return binding
	}
	if resource.IsCustom(s.ID.Group) || s.ID.Group == flowControlGroup && s.own.Severity.IsProblem() {
		return custom
	}
	return func(*subject) *verdict.Verdict { return nil }
}

const (
	gatewayGroup     = resource.GatewayGroup
	admissionGroup   = "admissionregistration.k8s.io"
	rbacGroup        = "rbac.authorization.k8s.io"
	flowControlGroup = "flowcontrol.apiserver.k8s.io"
)

// inherit returns a verdict of the subject with a cause. The severity is at least the subject's own severity.
func (s *subject) inherit(severity verdict.Severity, reason, sentence string, cause *verdict.Cause) *verdict.Verdict {
	return &verdict.Verdict{
		Severity: max(severity, s.own.Severity), Reason: reason, Sentence: sentence, Cause: cause,
	}
}

// because returns a verdict that the subject inherits from a neighbor with a problem.
func (s *subject) because(severity verdict.Severity, n *neighbor.Neighbor, prefix string) *verdict.Verdict {
	of, cause := n.Object.Verdict().Unpack(), s.rootOf(n)
	s.sources = s.sources.With(of.Sources)
	// A ReplicaSet passes the problem of a pod on, and adds nothing.
	passesOn := n.ID.Kind.Kind == "ReplicaSet" && of.Sources.Contains(podsRef, n.ID.Namespace())
	if prefix != "" || !passesOn {
		s.reads(n)
	}
	v := s.inherit(severity, of.Reason, prefix+cmp.Or(cause.Sentence, of.Why()), cause)
	via := neighbor.ObjectOf(n)
	v.Via = &via
	return v
}

// reads adds a neighbor to the sources, because the verdict contains a text about it.
func (s *subject) reads(n *neighbor.Neighbor) { s.readsIn(n.Resource, n.ID.Namespace()) }

func (s *subject) readsIn(resource, namespace string) {
	s.sources = s.sources.With(verdict.Source(resource, namespace))
}

// missing returns a verdict for a reference to an object that does not exist.
func (s *subject) missing(severity verdict.Severity, n *neighbor.Neighbor) *verdict.Verdict {
	sentence := missingText(s.ID.Namespace(), n)
	return s.inherit(severity, n.ID.Kind.Kind+"NotFound", sentence, &verdict.Cause{
		Object: neighbor.ObjectOf(n), Sentence: sentence, Missing: true,
	})
}

func missingText(namespace string, n *neighbor.Neighbor) string {
	name := n.ID.Name()
	if ns := n.ID.Namespace(); ns != "" && ns != namespace {
		name = ns + "/" + name
	}
	if n.Resource == "" {
		return fmt.Sprintf("%s %s is needed, but the cluster does not have the kind %s", n.ID.Kind.Kind, name, n.ID.Kind.Kind)
	}
	return fmt.Sprintf("%s %s does not exist", n.ID.Kind.Kind, name)
}

// rootOf returns the cause of a neighbor's problem. This is the neighbor itself, unless it inherited the problem.
func (s *subject) rootOf(n *neighbor.Neighbor) *verdict.Cause {
	v := n.Object.Verdict().Unpack()
	if v.Cause != nil {
		return v.Cause
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(n), Sentence: v.Why()}
}

// find returns the neighbors with the IDs. It omits objects that are not in the cache.
func (s *subject) find(ids []graph.ID) []neighbor.Neighbor {
	found := make([]neighbor.Neighbor, 0, len(ids))
	for _, id := range ids {
		if n := s.Find(id); n.Object != nil {
			found = append(found, n)
		}
	}
	return found
}

// worst returns the neighbor with the worst problem, or nil. Of several equally severe ones, it returns the first by
// key.
func (s *subject) worst(neighbors []neighbor.Neighbor) *neighbor.Neighbor {
	var worst *neighbor.Neighbor
	for n := range neighbors {
		if s.hasProblem(&neighbors[n]) && (worst == nil || compare(&neighbors[n], worst) < 0) {
			worst = &neighbors[n]
		}
	}
	return worst
}

func compare(a, b *neighbor.Neighbor) int {
	return cmp.Or(
		cmp.Compare(b.Object.Verdict().Severity(), a.Object.Verdict().Severity()),
		cmp.Compare(a.ID.Key, b.ID.Key),
	)
}

// owned returns the objects that the subject owns.
func (s *subject) owned() []neighbor.Neighbor {
	if s.Object.UID() == "" {
		return nil
	}
	return s.find(s.Owned(s.Object.UID(), neighbor.Limit))
}

// firstMissing returns the first object that the subject needs and that does not exist, or nil.
func (s *subject) firstMissing(include func(*graph.Use) bool) *neighbor.Neighbor {
	uses, _ := s.References(s.ID)
	for n := range uses {
		if u := &uses[n]; !u.Optional && (include == nil || include(u)) {
			if target := s.Find(u.Target); target.Presence == neighbor.Missing {
				return &target
			}
		}
	}
	return nil
}

// newest returns the neighbor that was created last, or nil.
func newest(neighbors []neighbor.Neighbor) *neighbor.Neighbor {
	if len(neighbors) == 0 {
		return nil
	}
	last := slices.MaxFunc(neighbors, func(a, b neighbor.Neighbor) int {
		return cmp.Or(a.Object.Created().Compare(b.Object.Created()), cmp.Compare(a.ID.Key, b.ID.Key))
	})
	return &last
}
