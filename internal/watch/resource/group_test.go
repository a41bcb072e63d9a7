package resource_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

func TestGroupsAreBuiltInOrCustom(t *testing.T) {
	for _, test := range []struct {
		group               string
		isBuiltIn, isCustom bool
	}{
		{"", true, false},
		{"apps", true, false},
		{"networking.k8s.io", true, false},
		{"storage.k8s.io", true, false},
		{"metrics.k8s.io", false, false},
		{"snapshot.storage.k8s.io", false, true},
		{resource.GatewayGroup, false, true},
		{"cluster.x-k8s.io", false, true},
		{"argoproj.io", false, true},
	} {
		t.Run(test.group, func(t *testing.T) {
			if got := resource.IsBuiltIn(test.group); got != test.isBuiltIn {
				t.Errorf("IsBuiltIn(%q) = %t, want %t", test.group, got, test.isBuiltIn)
			}
			if got := resource.IsCustom(test.group); got != test.isCustom {
				t.Errorf("IsCustom(%q) = %t, want %t", test.group, got, test.isCustom)
			}
		})
	}
}
