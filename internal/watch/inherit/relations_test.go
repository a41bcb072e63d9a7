package inherit

import (
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// A change of an EndpointSlice affects its Service and what uses the Service. If the EndpointSlice has no label with
// the name of the Service, it affects the Services that its own name can mean.
func TestServed(t *testing.T) {
	e := New(Options{})
	e.setServed([]resource.Resource{
		{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true, Preferred: true},
		{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses", Kind: "Ingress", Namespaced: true},
		{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices", Kind: "EndpointSlice", Namespaced: true},
	}, true, 0, 0)
	slice := graph.NewID(graph.Kind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}, "a", "db-1")
	service := graph.NewID(graph.Kind{Kind: "Service"}, "a", "db")
	ingress := graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, "a", "web")
	e.graph.Set(slice, &objectrefs.Object{})
	want := []graph.ID{graph.NewID(service.Kind, "a", "db-1"), service}
	if got := served(e.graph, slice); !slices.Equal(got, want) {
		t.Errorf("without a label: got %v, want %v", got, want)
	}
	use := objectrefs.Object{Uses: []objectrefs.Ref{{Kind: "Service", Name: "db"}}}
	e.graph.Set(slice, &use)
	e.graph.Set(ingress, &use)
	got := served(e.graph, slice)
	if !slices.Contains(got, service) || !slices.Contains(got, ingress) {
		t.Errorf("got %v, want the Service and the Ingress", got)
	}
}

// A new budget affects the other budgets of its namespace, because they can select the same pods.
func TestBudgetsAffectEachOther(t *testing.T) {
	e := New(Options{})
	budget := graph.Kind{Group: "policy", Kind: "PodDisruptionBudget"}
	one, two, other := graph.NewID(budget, "a", "one"), graph.NewID(budget, "a", "two"), graph.NewID(budget, "b", "one")
	for _, id := range []graph.ID{one, two, other} {
		e.graph.Set(id, &objectrefs.Object{})
	}
	if got := e.neighbors(one); !slices.Contains(got, two) || slices.Contains(got, other) {
		t.Errorf("got %v, want the budgets of the namespace", got)
	}
}
