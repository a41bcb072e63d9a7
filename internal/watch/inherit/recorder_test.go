package inherit

import (
	"maps"
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// When a kind is read, the objects whose rules needed this kind are evaluated again, once. Other objects are not.
func TestReadKindMarksObjectsThatNeededIt(t *testing.T) {
	gadget := graph.Kind{Group: "example.com", Kind: "Gadget"}
	for name, read := range map[string]func(*recorder){
		"Find":  func(r *recorder) { r.Find(graph.NewID(gadget, "a", "one")) },
		"All":   func(r *recorder) { r.All(gadget, neighbor.AnyNamespace, 1) },
		"Named": func(r *recorder) { r.Named(r.id, &neighbor.Mention{Kind: "gadget", Name: "one"}) },
	} {
		t.Run(name, func(t *testing.T) {
			e := New(Options{})
			e.setServed([]resource.Resource{
				{Group: gadget.Group, Version: "v1", Resource: "gadgets", Kind: gadget.Kind, Namespaced: true, Preferred: true},
			}, nil, 0, 0)
			pod := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "web")
			service := graph.NewID(graph.Kind{Kind: "Service"}, "a", "web")
			e.graph.Set(pod, &objectrefs.Object{})
			e.graph.Set(service, &objectrefs.Object{})
			read(&recorder{Engine: e, id: pod})
			if got := e.mentions.Users(graph.NewID(gadget, "a", "one")); (name == "Named") != slices.Contains(got, pod) {
				t.Errorf("got the users %v, want the pod only if Named was called", got)
			}
			if e.mentions.Has(revisit.AllOf(gadget, "")) != (name == "All") {
				t.Error("a new object must affect the pod only if All was called")
			}
			markDependents(e, graph.Kind{Group: gadget.Group, Kind: "Other"})
			if got := e.queue.Take(); len(got) > 0 {
				t.Errorf("another kind was read: got %v, want no objects", got)
			}
			markDependents(e, gadget)
			if got := slices.Collect(maps.Keys(e.queue.Take())); !slices.Equal(got, []graph.ID{pod}) {
				t.Errorf("the kind was read: got %v, want %v", got, pod)
			}
			markDependents(e, gadget)
			if got := e.queue.Take(); len(got) > 0 {
				t.Errorf("the kind was read again: got %v, want no objects", got)
			}
		})
	}
}
