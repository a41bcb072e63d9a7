package plan_test

import (
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/plan"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// Of EndpointSlices, only those that the controller does not create are read. Of Secrets, only the names are read.
func TestScopeOmitsUnneededData(t *testing.T) {
	slices := &resource.Resource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}
	if scope := plan.ScopeOf(slices); scope.Metadata || !strings.Contains(scope.Labels, "!=endpointslice-controller") {
		t.Errorf("got %+v, want complete EndpointSlices with a label selector", scope)
	}
	secrets := &resource.Resource{Version: "v1", Resource: "secrets"}
	if scope := plan.ScopeOf(secrets); !scope.Metadata || scope.Labels != "" {
		t.Errorf("got %+v, want the names of all Secrets", scope)
	}
}
