package builtin

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// LoadBalancerProblem returns why a Service has no load balancer yet, for the end of a sentence. It returns "" if the
// conditions of the Service do not state this.
func LoadBalancerProblem(o object.Object) string {
	for _, c := range o.Conditions() {
		if c.Is("False") && c.Message != "" && !wording.IsBadIfTrue(c.Kind) {
			return ": " + c.Kind + ": " + c.Message
		}
	}
	return ""
}
