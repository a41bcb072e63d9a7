package demand_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/demand"
)

func TestTotalsReturnToZero(t *testing.T) {
	var totals demand.Totals
	everything := func(string) bool { return true }
	for _, phase := range []string{"Running", "Succeeded", "Failed"} {
		totals.Add("a", &demand.Usage{Phase: phase, MilliCPU: 100, Memory: 1}, 1)
	}
	sum := totals.Sum(func(namespace string) bool { return namespace == "a" })
	if sum.MilliCPU != 100 || sum.Memory != 1 || len(sum.Phases) != 3 {
		t.Errorf("got %+v, want the requests of the running pod only", sum)
	}
	if sum := totals.Sum(func(string) bool { return false }); sum.MilliCPU != 0 || len(sum.Phases) != 0 {
		t.Errorf("excluded namespaces: got %+v", sum)
	}
	for _, phase := range []string{"Running", "Succeeded", "Failed"} {
		totals.Add("a", &demand.Usage{Phase: phase, MilliCPU: 100, Memory: 1}, -1)
	}
	if sum := totals.Sum(everything); sum.MilliCPU != 0 || sum.Memory != 0 || len(sum.Phases) != 0 {
		t.Errorf("got %+v, want nothing", sum)
	}
}
