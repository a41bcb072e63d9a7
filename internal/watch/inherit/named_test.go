package inherit

import (
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// A message can name a kind that exists in several API groups. Named returns the group of the object with the message
// first, and then the groups of Kubernetes itself.
func TestNamedPrefersGroupOfTheObject(t *testing.T) {
	e := New(Options{})
	e.setServed([]resource.Resource{
		{Group: "other.example.com", Version: "v1", Resource: "queues", Kind: "Queue", Namespaced: true, Preferred: true},
		{Group: "batch", Version: "v1", Resource: "queues", Kind: "Queue", Namespaced: true, Preferred: true},
		{Group: "example.com", Version: "v1", Resource: "queues", Kind: "Queue", Namespaced: true, Preferred: true},
		{Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses", Kind: "DeviceClass", Preferred: true},
		{Group: "example.com", Version: "v1", Resource: "queuepools", Kind: "QueuePool", Preferred: true},
		{Group: "example.com", Version: "v1", Resource: "localpolicies", Kind: "LocalPolicy", Preferred: true},
		{Group: "shared.example.org", Version: "v1", Resource: "pools", Kind: "Pool", Preferred: true},
		{Group: "sub.example.com", Version: "v1", Resource: "tiers", Kind: "Tier", Preferred: true},
	}, nil, 0, 0)
	by := graph.NewID(graph.Kind{Group: "example.com", Kind: "Workload"}, "ml", "train")
	for _, test := range []struct {
		mention neighbor.Mention
		want    []string
	}{
		{
			neighbor.Mention{Kind: "queue", Name: "a"},
			[]string{"example.com Queue ml/a", "batch Queue ml/a", "other.example.com Queue ml/a"},
		},
		{neighbor.Mention{Kind: "queues", Group: "batch", Namespace: "b", Name: "a"}, []string{"batch Queue b/a"}},
		{neighbor.Mention{Kind: "deviceclass", Name: "gpu"}, []string{"resource.k8s.io DeviceClass /gpu"}},
		{neighbor.Mention{Kind: "thing", Name: "a"}, nil},
		{
			neighbor.Mention{Kind: "queues", Name: "a", IsWord: true},
			[]string{"example.com Queue ml/a", "other.example.com Queue ml/a", "example.com QueuePool /a"},
		},
		{neighbor.Mention{Kind: "policy", Name: "a", IsWord: true}, []string{"example.com LocalPolicy /a"}},
		{neighbor.Mention{Kind: "pools", Name: "a", IsWord: true}, []string{"example.com QueuePool /a"}},
		{neighbor.Mention{Kind: "sourceQueue", Name: "a", IsWord: true}, []string{"example.com Queue ml/a"}},
		{neighbor.Mention{Kind: "tier", Name: "a", IsWord: true}, []string{"sub.example.com Tier /a"}},
		{neighbor.Mention{Kind: "deviceClass", Name: "a", IsWord: true}, nil},
		{neighbor.Mention{Kind: "tiers", Group: "other.example.org", Name: "a", IsWord: true}, nil},
		{
			neighbor.Mention{Kind: "pool", Group: "shared.example.org", Name: "a", IsWord: true},
			[]string{"shared.example.org Pool /a"},
		},
	} {
		t.Run(strings.TrimSpace(test.mention.Group+" "+test.mention.Kind), func(t *testing.T) {
			var got []string
			for _, n := range e.Named(by, &test.mention) {
				got = append(got, n.ID.Group+" "+n.ID.Kind.Kind+" "+n.ID.Key)
				if n.Resource == "" {
					t.Errorf("%v has no resource", n.ID)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The containers of an object are its namespace and the definition of its kind. Their deletion can wait for the object.
func TestContainersAreNamespaceAndDefinition(t *testing.T) {
	e := New(Options{})
	e.setServed([]resource.Resource{
		{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true, Preferred: true},
	}, nil, 0, 0)
	got := e.containers(graph.NewID(graph.Kind{Group: "example.com", Kind: "Widget"}, "a", "w"))
	want := []graph.ID{
		graph.NewID(graph.Kind{Kind: "Namespace"}, "", "a"),
		graph.NewID(graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, "", "widgets.example.com"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
