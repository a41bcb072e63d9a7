package inherit

import (
	"context"
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
)

// usageInterval is the time between two updates of the rows of nodes. Changes in this time are sent together.
const usageInterval = time.Second

var nodeKind, podKind = graph.Kind{Kind: "Node"}, graph.Kind{Kind: "Pod"} //nolint:gochecknoglobals // Constants.

// publishUsages updates the rows of nodes after the number or the requests of their pods have changed, until ctx ends.
func publishUsages(ctx context.Context, e *Engine) {
	knewPods := false
	for ctx.Err() == nil {
		for name := range e.usages.TakeChangedNodes() {
			e.publish(graph.ID{Kind: nodeKind, Key: informer.Key("", name)})
		}
		if knowsPods := e.Indexes(podKind, ""); knowsPods != knewPods {
			knewPods = knowsPods
			publishNodes(e)
		}
		signal.Sleep(ctx, usageInterval)
	}
}

// publishNodes updates the rows of all nodes.
func publishNodes(e *Engine) {
	for _, id := range e.graph.All(func(k graph.Kind) bool { return k == nodeKind }) {
		e.publish(id)
	}
}

// NodeCells returns the extra cells of a node as a JSON array (see printer.WithExtra). If the engine does not know all
// pods, the array contains only the cell "Last change".
func NodeCells(e *Engine, o *compact.Object) []byte {
	lastChange := compact.ExtraCell(o, 0)
	if lastChange == nil {
		lastChange = []byte("null")
	}
	cells := append([]byte{'['}, lastChange...)
	if !e.Indexes(podKind, "") {
		return append(cells, ']')
	}
	allocatable := neighbor.Decode[corev1.Node](o).Status.Allocatable
	usage := e.usages.Node(o.Name())
	const gib = 1 << 30
	for _, text := range []string{
		share(float64(usage.Pods), allocatable.Pods().AsApproximateFloat64(), 1, ""),
		share(float64(usage.MilliCPU)/1000, allocatable.Cpu().AsApproximateFloat64(), 100, ""),
		share(float64(usage.Memory)/gib, allocatable.Memory().AsApproximateFloat64()/gib, 10, " GiB"),
	} {
		cells = jsonscan.AppendString(append(cells, ','), text)
	}
	return append(cells, ']')
}

// share returns the text of an amount and of the maximum amount, such as "1.5/4", rounded to 1/steps.
func share(amount, most, steps float64, unit string) string {
	short := func(x float64) string { return strconv.FormatFloat(math.Round(x*steps)/steps, 'f', -1, 64) }
	return short(amount) + "/" + short(most) + unit
}
