package demand_test

import (
	"maps"
	"slices"
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

func TestChangedNodesAreReturnedOnce(t *testing.T) {
	var totals demand.Totals
	change := func(node, phase string, sign int) {
		totals.Add("a", &demand.Usage{Phase: phase, Node: node, MilliCPU: 100, Memory: 1}, sign)
	}
	want := func(step string, nodes ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(totals.TakeChangedNodes())); !slices.Equal(got, nodes) {
			t.Errorf("%s: got the nodes %q, want %q", step, got, nodes)
		}
	}
	change("n1", "Running", 1)
	change("n2", "Pending", 1)
	change("n3", "Succeeded", 1)
	change("", "Pending", 1)
	want("new pods", "n1", "n2")
	want("no change")
	if got := totals.Node("n1"); got != (demand.NodeTotal{Pods: 1, MilliCPU: 100, Memory: 1}) {
		t.Errorf("got %+v, want the requests of one pod", got)
	}
	change("n2", "Pending", -1)
	want("a deleted pod", "n2")
	totals.Reset()
	want("after the reset", "n1")
	if got := totals.Node("n1"); got != (demand.NodeTotal{}) {
		t.Errorf("got %+v, want no pods", got)
	}
}
