package traffic

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type route struct {
	Spec struct {
		Hostnames []string    `json:"hostnames"`
		Rules     []routeRule `json:"rules"`
	} `json:"spec"`
}

// Route explains why requests to a route of the Gateway API reach no pod.
func Route(s *subject.Subject) *verdict.Verdict {
	isParent := subject.In("spec.parentRefs")
	if target := s.FirstMissing(isParent); target != nil {
		return s.ReportMissing(target, verdict.Failed)
	}
	paths := routePaths(s)
	for n := range paths {
		if paths[n].namespace != s.ID.Namespace() {
			if v := notGranted(s, &paths[n]); v != nil {
				return v
			}
		}
	}
	if v := brokenPaths(s, paths); v != nil {
		return v
	}
	if v := withoutFilter(s); v != nil {
		return v
	}
	for gateway := range s.Used(isParent) {
		if s.HasProblem(&gateway) && !usesOnlyGoodListeners(s, &gateway) {
			return s.Inherit(&gateway, gateway.Object.Verdict().Severity(), gateway.String()+": ")
		}
	}
	return notAccepted(s)
}

// withoutFilter explains a route that is not accepted because a filter of its controller is missing, such as an
// HTTPRouteFilter. The sentence must contain its kind and its name.
func withoutFilter(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	text := subject.CompleteSentence(s)
	filter := s.FirstMissing(func(u *graph.Use) bool {
		return strings.HasSuffix(u.Via, ".filters.extensionRef") && subject.ContainsName(text, u.Target.Name()) &&
			subject.ContainsKind(text, u.Target.Kind.Kind)
	})
	if filter == nil {
		return nil
	}
	cause := s.MissingCause(filter)
	return s.Explain(s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, cause.Sentence), cause)
}

// notAccepted explains a route that no listener of its Gateway permits, or that refers to a listener which its Gateway
// does not have. The constants of the reasons are in
// https://gateway-api.sigs.k8s.io/reference/spec/#routeconditionreason.
func notAccepted(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	o := neighbor.Decode[struct {
		Status struct {
			Parents []struct {
				ParentRef  parentRef          `json:"parentRef"`
				Conditions []metav1.Condition `json:"conditions"`
			} `json:"parents"`
		} `json:"status"`
	}](s.Object)
	for _, parent := range o.Status.Parents {
		accepted := meta.FindStatusCondition(parent.Conditions, "Accepted")
		if accepted == nil || accepted.Status != metav1.ConditionFalse {
			continue
		}
		isDenied := accepted.Reason == "NotAllowedByListeners" || accepted.Reason == "NoMatchingListenerHostname"
		for gateway := range s.Used(subject.In("spec.parentRefs")) {
			if gateway.Presence != neighbor.Present || gateway.ID.Name() != parent.ParentRef.Name ||
				gateway.ID.Namespace() != cmp.Or(parent.ParentRef.Namespace, s.ID.Namespace()) {
				continue
			}
			if v := withoutListener(s, &gateway, &parent.ParentRef); v != nil {
				return v
			}
			if isDenied {
				return s.ExplainBy(&gateway, s.Own.Severity, s.Own.Reason, s.Own.Sentence)
			}
		}
	}
	return nil
}

// routePaths returns a path for each Service to which a route of the Gateway API sends requests.
func routePaths(s *subject.Subject) (paths []path) {
	spec := neighbor.Decode[route](s.Object).Spec
	texts := addresses(spec.Hostnames, spec.Rules)
	for n := range spec.Rules {
		for _, b := range spec.Rules[n].backends() {
			if b.Kind != nil && *b.Kind != "Service" || b.Group != nil && *b.Group != "" {
				continue
			}
			paths = append(paths, path{texts[n], cmp.Or(b.Namespace, s.ID.Namespace()), b.Name, b.Port, ""})
		}
	}
	return paths
}

type referenceGrant struct {
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
}

// permits reports whether the grant permits a route to use a Service of the grant's namespace.
func (g *referenceGrant) permits(route graph.ID, service string) bool {
	for _, from := range g.Spec.From {
		for _, to := range g.Spec.To {
			if from.Group == resource.GatewayGroup && from.Kind == route.Kind.Kind && from.Namespace == route.Namespace() &&
				to.Group == "" && to.Kind == "Service" && (to.Name == "" || to.Name == service) {
				return true
			}
		}
	}
	return false
}

// notGranted returns a verdict if no ReferenceGrant permits the route to use a Service of another namespace.
func notGranted(s *subject.Subject, p *path) *verdict.Verdict {
	kind := graph.Kind{Group: resource.GatewayGroup, Kind: "ReferenceGrant"}
	all, isComplete := subject.AllOf(s, kind, p.namespace, neighbor.Limit)
	if !isComplete {
		return nil // Not all grants are known. An unknown one possibly permits the route.
	}
	s.AddSource(resource.GatewayGroup+"/v1beta1/referencegrants", p.namespace)
	for _, n := range all {
		if g := neighbor.Decode[referenceGrant](n.Object); g.permits(s.ID, p.name) {
			return nil
		}
	}
	target := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, p.namespace, p.name))
	target.Resource = cmp.Or(target.Resource, "core/v1/services")
	return s.ExplainBy(&target, verdict.Failed, "RefNotPermitted",
		fmt.Sprintf("No ReferenceGrant in namespace %s permits the use of Service %s", p.namespace, p.name))
}
