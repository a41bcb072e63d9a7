package mesh

import (
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// CanRedirect reports whether a VirtualService possibly sends requests of sidecars for a Service to another one. A
// VirtualService of any namespace can apply.
func CanRedirect(s *subject.Subject, service graph.ID) bool {
	kind := graph.Kind{Group: "networking.istio.io", Kind: "VirtualService"}
	all, isComplete := subject.AllOf(s, kind, neighbor.AnyNamespace, maxServices)
	return !isComplete || slices.ContainsFunc(all, func(n neighbor.Neighbor) bool { return isFor(&n, service.Name()) })
}

// isFor reports whether a VirtualService possibly applies to requests of sidecars for a Service with a name.
func isFor(n *neighbor.Neighbor, name string) bool {
	spec := neighbor.Decode[struct {
		Spec struct {
			Hosts    []string `json:"hosts"`
			Gateways []string `json:"gateways"`
		} `json:"spec"`
	}](n.Object).Spec
	isInside := len(spec.Gateways) == 0 || slices.Contains(spec.Gateways, "mesh")
	return isInside && slices.ContainsFunc(spec.Hosts, func(host string) bool {
		first, _, _ := strings.Cut(host, ".")
		return first == name || strings.HasPrefix(host, "*")
	})
}
