package inherit

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/demand"
)

func TestUsagesReturnToZero(t *testing.T) {
	var u usages
	for _, phase := range []string{"Running", "Succeeded", "Failed"} {
		u.add("a", &demand.Usage{Phase: phase, MilliCPU: 100, Memory: 1}, 1)
	}
	e := &Engine{}
	e.usages.byNamespace = u.byNamespace
	sum := e.Usage(func(namespace string) bool { return namespace == "a" })
	if sum.MilliCPU != 100 || sum.Memory != 1 || len(sum.Phases) != 3 {
		t.Errorf("got %+v, want the requests of the running pod only", sum)
	}
	if sum := e.Usage(func(string) bool { return false }); sum.MilliCPU != 0 || len(sum.Phases) != 0 {
		t.Errorf("excluded namespaces: got %+v", sum)
	}
	for _, phase := range []string{"Running", "Succeeded", "Failed"} {
		u.add("a", &demand.Usage{Phase: phase, MilliCPU: 100, Memory: 1}, -1)
	}
	if len(u.byNamespace) != 0 {
		t.Errorf("got %v, want nothing", u.byNamespace)
	}
}
