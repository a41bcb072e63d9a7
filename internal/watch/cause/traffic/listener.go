package traffic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// gateway is the part of a Gateway that shows which of its listeners work.
type gateway struct {
	Spec struct {
		Listeners []gatewayListener `json:"listeners"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
		Listeners  []struct {
			Name       string             `json:"name"`
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"listeners"`
	} `json:"status"`
}

type gatewayListener struct {
	Name     string `json:"name"`
	Port     int32  `json:"port"`
	Protocol string `json:"protocol"`
}

// parentRef is a reference of a route to its Gateway, or to some of the listeners of this Gateway.
type parentRef struct {
	Group       *string `json:"group"`
	Kind        *string `json:"kind"`
	Namespace   string  `json:"namespace"`
	Name        string  `json:"name"`
	SectionName string  `json:"sectionName"`
	Port        int32   `json:"port"`
}

// usesOnlyGoodListeners reports whether the problem of a Gateway is the problem of listeners that the route does not
// use, and all listeners that the route uses work.
func usesOnlyGoodListeners(s *subject.Subject, n *neighbor.Neighbor) bool {
	subject.Follow(s, n) // The result depends on the conditions of the listeners, not only on the verdict.
	if n.Object.Verdict().Unpack().Via != nil {
		return false // The problem is that of another object, such as the workload of the Gateway.
	}
	o := neighbor.Decode[gateway](n.Object)
	if !isProgrammed(o.Status.Conditions) || !slices.ContainsFunc(o.Spec.Listeners, func(l gatewayListener) bool {
		return o.hasFailed(l.Name)
	}) {
		return false
	}
	count := 0
	for _, ref := range parentRefs(s, n) {
		for _, l := range o.Spec.Listeners {
			if !ref.selects(&l) || !accepts(&l, s.ID.Kind.Kind) {
				continue
			}
			if !o.works(l.Name) {
				return false
			}
			count++
		}
	}
	return count > 0
}

// parentRefs returns the references of a route to a Gateway.
func parentRefs(s *subject.Subject, n *neighbor.Neighbor) []parentRef {
	refs := neighbor.Decode[struct {
		Spec struct {
			ParentRefs []parentRef `json:"parentRefs"`
		} `json:"spec"`
	}](s.Object).Spec.ParentRefs
	return slices.DeleteFunc(refs, func(r parentRef) bool {
		return r.Name != n.ID.Name() || cmp.Or(r.Namespace, s.ID.Namespace()) != n.ID.Namespace() ||
			r.Kind != nil && *r.Kind != n.ID.Kind.Kind || r.Group != nil && *r.Group != resource.GatewayGroup
	})
}

// selects reports whether a route with the reference uses a listener.
func (r *parentRef) selects(l *gatewayListener) bool {
	return (r.SectionName == "" || r.SectionName == l.Name) && (r.Port == 0 || r.Port == l.Port)
}

// withoutListener explains a route that a Gateway did not accept (rejected), because none of its listeners has the name
// and the port in this reference.
func withoutListener(s *subject.Subject, n *neighbor.Neighbor, rejected *parentRef) *verdict.Verdict {
	listeners := neighbor.Decode[gateway](n.Object).Spec.Listeners
	isInSpec := slices.ContainsFunc(parentRefs(s, n), func(r parentRef) bool {
		return r.SectionName == rejected.SectionName && r.Port == rejected.Port
	})
	selects := func(l gatewayListener) bool { return rejected.selects(&l) }
	if !isInSpec || len(listeners) == 0 || slices.ContainsFunc(listeners, selects) {
		return nil
	}
	var names []string
	for _, l := range listeners {
		names = append(names, fmt.Sprintf("%s (port %d)", l.Name, l.Port))
	}
	subject.Follow(s, n)
	s.AddSource(n.Resource, n.ID.Namespace())
	return s.Explain(s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
		"No listener of %s has the %s. Its listeners: %s", s.Name(n), rejected, strings.Join(names, ", "))), nil)
}

// String returns the name and the port of the listeners that the reference selects.
func (r *parentRef) String() string {
	switch {
	case r.Port == 0:
		return "name " + r.SectionName
	case r.SectionName == "":
		return fmt.Sprintf("port %d", r.Port)
	}
	return fmt.Sprintf("name %s and the port %d", r.SectionName, r.Port)
}

// accepts reports whether routes of a kind can use a listener because of its protocol.
func accepts(l *gatewayListener, kind string) bool {
	switch l.Protocol {
	case "HTTP", "HTTPS":
		return kind == "HTTPRoute" || kind == "GRPCRoute"
	case "TLS":
		return kind == "TLSRoute" || kind == "TCPRoute"
	case "TCP":
		return kind == "TCPRoute"
	case "UDP":
		return kind == "UDPRoute"
	}
	return true // The implementation defines the protocol.
}

func (g *gateway) conditions(listener string) []metav1.Condition {
	for n := range g.Status.Listeners {
		if g.Status.Listeners[n].Name == listener {
			return g.Status.Listeners[n].Conditions
		}
	}
	return nil
}

func (g *gateway) works(listener string) bool { return isProgrammed(g.conditions(listener)) }

func (g *gateway) hasFailed(listener string) bool { return hasFalse(g.conditions(listener)) }

// isProgrammed reports whether conditions state that a Gateway or a listener works.
func isProgrammed(conditions []metav1.Condition) bool {
	return !hasFalse(conditions) && slices.ContainsFunc(conditions, func(c metav1.Condition) bool {
		return c.Type == "Programmed" && c.Status == metav1.ConditionTrue
	})
}

// hasFalse reports whether a condition that a Gateway or a listener needs is not True.
func hasFalse(conditions []metav1.Condition) bool {
	return slices.ContainsFunc(conditions, func(c metav1.Condition) bool {
		isNeeded := slices.Contains([]string{"Accepted", "Programmed", "ResolvedRefs"}, c.Type)
		return isNeeded && c.Status != metav1.ConditionTrue
	})
}
