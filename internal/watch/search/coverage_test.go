package search_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/search"
)

func served(group, version, name string, verbs ...string) resource.Resource {
	return resource.Resource{Group: group, Version: version, Resource: name, Kind: name, Verbs: verbs, Preferred: true}
}

// Each resource that can be listed is either searched or omitted with a reason. Other versions of a searched resource
// are neither, because they contain the same objects.
//
// Invariant: I22.
func TestCoverageIsComplete(t *testing.T) {
	other := served("autoscaling", "v1", "horizontalpodautoscalers", "list", "watch")
	other.Preferred = false
	resources := []resource.Resource{
		served("", "v1", "pods", "list", "watch"), served("", "v1", "configmaps", "list", "watch"),
		served("", "v1", "componentstatuses", "list"), served("", "v1", "bindings", "create"),
		served("", "v1", "events", "list", "watch"), served("events.k8s.io", "v1", "events", "list", "watch"),
		other, served("autoscaling", "v2", "horizontalpodautoscalers", "list", "watch"),
		served("coordination.k8s.io", "v1", "leases", "list", "watch"),
		served("networking.k8s.io", "v1", "networkpolicies", "list", "watch"),
		served("metrics.k8s.io", "v1beta1", "pods", "list"),
		served("discovery.k8s.io", "v1", "endpointslices", "list", "watch"), // The engine reads only some EndpointSlices.
	}
	for n := range 502 {
		resources = append(resources, served("example.com", "v1", fmt.Sprintf("w%03d", n), "list", "watch"))
	}
	refs := func(all []resource.Resource) (refs []string) {
		for n := range all {
			if all[n].Group != "example.com" {
				refs = append(refs, all[n].Ref())
			}
		}
		return refs
	}
	const policies = "networking.k8s.io/v1/networkpolicies"
	everything := func(*resource.Resource) bool { return true }
	c := search.Cover(resources, everything, func(r *resource.Resource) bool {
		return r.Ref() == policies || r.Group == "events.k8s.io"
	})
	want := []string{
		"core/v1/pods", "core/v1/configmaps", "core/v1/events", "autoscaling/v2/horizontalpodautoscalers", policies,
	}
	if got := refs(c.Resources); !slices.Equal(got, want) || len(c.Resources) != len(want)+500 {
		t.Errorf("searched: got %d resources with %q, want %q", len(c.Resources), got, want)
	}
	var omitted []string
	for _, o := range c.Omitted {
		omitted = append(omitted, o.Resource.Ref()+" "+string(o.Reason))
	}
	want = []string{
		"core/v1/componentstatuses unread", "coordination.k8s.io/v1/leases unread", "metrics.k8s.io/v1beta1/pods unread",
		"discovery.k8s.io/v1/endpointslices unread",
		"example.com/v1/w500 limit", "example.com/v1/w501 limit",
	}
	if !slices.Equal(omitted, want) {
		t.Errorf("omitted: got %q, want %q", omitted, want)
	}
	if c := search.Cover(resources, func(*resource.Resource) bool { return false }, everything); len(c.Resources) > 0 ||
		len(c.Omitted) > 0 {
		t.Errorf("without permission to know a resource: got %+v", c)
	}
}
