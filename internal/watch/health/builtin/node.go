package builtin

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

// StartupTaint returns the key of a taint that keeps pods from a node until a controller or an agent has initialized
// the node, or "".
func StartupTaint(o object.Object) string {
	for _, taint := range o.Children("spec", "taints") {
		key := taint.Text("key")
		for _, suffix := range []string{"/uninitialized", "/agent-not-ready", "/unregistered"} {
			if strings.HasSuffix(key, suffix) {
				return key
			}
		}
	}
	return ""
}
