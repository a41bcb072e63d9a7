package inherit

import (
	"maps"
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/results"
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

// The recorder returns at most as many objects as a rule requests, and records the lists that contain more.
func TestCutListsAreRecorded(t *testing.T) {
	e := New(Options{})
	pod, service := graph.Kind{Kind: "Pod"}, graph.NewID(graph.Kind{Kind: "Service"}, "a", "web")
	e.setServed([]resource.Resource{
		{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true},
		{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true, Preferred: true},
	}, nil, 0, 0)
	for _, name := range []string{"one", "two"} {
		e.graph.Set(graph.NewID(pod, "a", name), &objectrefs.Object{
			Labels: map[string]string{"app": "web"},
			Uses:   []objectrefs.Ref{{Kind: "Service", Name: "web"}},
			Owners: []objectrefs.Ref{{Kind: "Service", Name: "web", UID: "u"}},
		})
	}
	selector := objectrefs.SelectorOf(map[string]string{"app": "web"})
	for name, test := range map[string]struct {
		read func(r *recorder, limit int) int
		want results.Cut
	}{
		"Users": {
			func(r *recorder, limit int) int { return len(r.Users(service, limit)) },
			results.Cut{Text: "objects that use Service web", Sources: "core/v1/pods a\ncore/v1/services a"},
		},
		"Owned": {
			func(r *recorder, limit int) int { return len(r.Owned("u", limit)) },
			results.Cut{Text: "objects that a related object owns", Sources: "core/v1/pods a"},
		},
		"Selected": {
			func(r *recorder, limit int) int { return len(r.Selected("a", selector, limit)) },
			results.Cut{Text: "pods in namespace a that a selector selects", Sources: "core/v1/pods a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{Engine: e, id: service}
			if count := test.read(r, 2); count != 2 || len(r.cuts) > 0 {
				t.Errorf("a complete list: got %d objects, cuts %v", count, r.cuts)
			}
			test.want.Text = "Only 1 of the " + test.want.Text + " are examined."
			if count := test.read(r, 1) + test.read(r, 1); count != 2 || !slices.Equal(r.cuts, []results.Cut{test.want}) {
				t.Errorf("two reads of a cut list: got %d objects, cuts %v, want %v", count, r.cuts, test.want)
			}
		})
	}
	r := &recorder{Engine: e, id: service}
	r.cutAll(pod, neighbor.AnyNamespace, 5)
	r.cutAll(pod, "a", 5)
	want := []results.Cut{
		{Text: "Only 5 of the Pod objects in all namespaces are examined.", Sources: "core/v1/pods "},
		{Text: "Only 5 of the Pod objects in namespace a are examined.", Sources: "core/v1/pods a"},
	}
	if !slices.Equal(r.cuts, want) {
		t.Errorf("got %v, want %v", r.cuts, want)
	}
}
