package mesh

import (
	"fmt"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// istioRoot is the default namespace of the DestinationRules that apply in all namespaces.
const istioRoot = "istio-system"

//nolint:gochecknoglobals // Constant.
var destinationRule = graph.Kind{Group: "networking.istio.io", Kind: "DestinationRule"}

type destination struct {
	Destination struct {
		Host   string `json:"host"`
		Subset string `json:"subset"`
	} `json:"destination"`
}

type routes []struct {
	Route []destination `json:"route"`
}

// Subset reports a VirtualService that routes to a subset which no DestinationRule defines. Istio answers such
// requests with status 503.
func Subset(s *subject.Subject) *verdict.Verdict {
	o := neighbor.Decode[struct {
		Spec struct {
			HTTP routes `json:"http"`
			TLS  routes `json:"tls"`
			TCP  routes `json:"tcp"`
		} `json:"spec"`
	}](s.Object)
	all := slices.Concat(o.Spec.HTTP, o.Spec.TLS, o.Spec.TCP)
	for n := range all {
		for _, d := range all[n].Route {
			if d.Destination.Subset == "" {
				continue
			}
			if v := undefinedSubset(s, d.Destination.Host, d.Destination.Subset); v != nil {
				return v
			}
		}
	}
	return nil
}

func undefinedSubset(s *subject.Subject, host, subset string) *verdict.Verdict {
	service, ok := serviceOf(host, s.ID.Namespace())
	if !ok || s.Find(service).Presence != neighbor.Present {
		return nil // The host is possibly outside the cluster.
	}
	users, isComplete := subject.UsersOf(s, service, neighbor.Limit)
	if !isComplete || hasWildcard(s, service.Namespace()) {
		return nil // An unknown DestinationRule can define the subset.
	}
	var rule *neighbor.Neighbor
	for _, id := range users {
		if id.Kind != destinationRule {
			continue
		}
		n := s.Find(id)
		if n.Object == nil || slices.Contains(subsetsOf(n.Object), subset) {
			return nil
		}
		if rule == nil || n.ID.Key < rule.ID.Key {
			rule = &n
		}
	}
	target := s.Find(service)
	sentence := fmt.Sprintf("No DestinationRule defines the subset %s of %s", subset, s.Name(&target))
	s.AddSource("core/v1/services", service.Namespace())
	if rule == nil {
		return s.Explain(verdict.Degraded, "SubsetNotFound", sentence, nil)
	}
	return s.ExplainBy(rule, verdict.Degraded, "SubsetNotFound", sentence)
}

// serviceOf returns the Service that a host of Istio means, for hosts NAME and NAME.NAMESPACE.svc[.DOMAIN].
func serviceOf(host, namespace string) (id graph.ID, ok bool) {
	name := host
	if strings.Contains(host, ".") {
		namespace, name = objectrefs.ServiceOf(host)
	}
	return graph.NewID(graph.Kind{Kind: "Service"}, namespace, name), name != ""
}

// hasWildcard reports whether a DestinationRule that is not among the users of a Service possibly applies to it: a rule
// for several hosts, or one that names the Service in a form that serviceOf does not know.
func hasWildcard(s *subject.Subject, namespace string) bool {
	namespaces := []string{s.ID.Namespace(), namespace, istioRoot}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		rules, isComplete := subject.AllOf(s, destinationRule, namespace, neighbor.Limit)
		if !isComplete {
			return true // Some rules are possibly unknown, and an unknown rule can apply.
		}
		for n := range rules {
			o := neighbor.Decode[struct {
				Spec struct {
					Host string `json:"host"`
				} `json:"spec"`
			}](rules[n].Object)
			if _, ok := serviceOf(o.Spec.Host, namespace); !ok || strings.HasPrefix(o.Spec.Host, "*") {
				return true
			}
		}
	}
	return false
}

func subsetsOf(rule neighbor.Object) (names []string) {
	o := neighbor.Decode[struct {
		Spec struct {
			Subsets []struct {
				Name string `json:"name"`
			} `json:"subsets"`
		} `json:"spec"`
	}](rule)
	for _, subset := range o.Spec.Subsets {
		names = append(names, subset.Name)
	}
	return names
}
