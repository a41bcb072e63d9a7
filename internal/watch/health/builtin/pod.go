package builtin

import "github.com/glasshouse-project/glasshouse/internal/watch/health/object"

// Gates returns the names of a pod's scheduling gates.
func Gates(o object.Object) (names []string) {
	for _, gate := range o.Children("spec", "schedulingGates") {
		names = append(names, gate.Text("name"))
	}
	return names
}
