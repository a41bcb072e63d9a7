package cause

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// listenerSet explains a ListenerSet of the Gateway API that is not accepted because its Gateway does not allow it. By
// default, a Gateway allows none. The cause is the Gateway only if its spec still does not allow the ListenerSet.
func listenerSet(s *subject.Subject) *verdict.Verdict {
	isDenied := func(c metav1.Condition) bool { return c.Type == "Accepted" && c.Reason == "NotAllowed" }
	if !s.Own.Severity.IsProblem() || s.Own.Reason == subject.Terminating ||
		!slices.ContainsFunc(neighbor.Conditions(s.Object, metav1.ConditionFalse), isDenied) {
		return custom(s)
	}
	for gateway := range s.Used(subject.In("spec.parentRef")) {
		if gateway.Object == nil || gateway.ID.Kind != (graph.Kind{Group: gatewayGroup, Kind: "Gateway"}) {
			continue
		}
		subject.Follow(s, &gateway)
		if limit := listenerLimit(s, &gateway); limit != "" {
			return s.ExplainBy(&gateway, verdict.Degraded, s.Own.Reason,
				subject.Sentences(s.Own.Sentence, s.Name(&gateway)+" allows "+limit+" (spec.allowedListeners)"))
		}
	}
	return custom(s)
}

// listenerLimit returns which ListenerSets a Gateway allows, or "" if it possibly allows the subject.
func listenerLimit(s *subject.Subject, gateway *neighbor.Neighbor) string {
	allowed := neighbor.Decode[struct {
		Spec struct {
			AllowedListeners struct {
				Namespaces struct {
					From     string                `json:"from"`
					Selector *metav1.LabelSelector `json:"selector"`
				} `json:"namespaces"`
			} `json:"allowedListeners"`
		} `json:"spec"`
	}](gateway.Object).Spec.AllowedListeners.Namespaces
	switch isSame := gateway.ID.Namespace() == s.ID.Namespace(); {
	case allowed.From == "" || allowed.From == "None":
		return "no ListenerSets"
	case allowed.From == "Same" && !isSame:
		return "only ListenerSets of its namespace"
	case allowed.From != "Selector":
		return ""
	}
	namespace := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", s.ID.Namespace()))
	selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
	if namespace.Object == nil || err != nil {
		return ""
	}
	subject.Follow(s, &namespace)
	s.AddSource(namespace.Resource, "")
	if selector.Matches(labels.Set(neighbor.Decode[metav1.PartialObjectMetadata](namespace.Object).Labels)) {
		return ""
	}
	return "only ListenerSets of selected namespaces"
}
