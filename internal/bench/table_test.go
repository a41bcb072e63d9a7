package bench_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// rows are a table of figures: baseline, ours, their ratio, and the bar.
type rows []string

func (r *rows) add(what string, baseline, ours float64, bar string) {
	*r = append(*r, fmt.Sprintf("%-46s %14.2f %14.2f %8.2f   %s", what, baseline, ours, ours/baseline, bar))
}

func (r *rows) log(t *testing.T) {
	t.Helper()
	t.Logf("medians of %d runs\n%-46s %14s %14s %8s   %s\n%s", runs(), "", "baseline", "ours", "ratio", "bar", strings.Join(*r, "\n"))
}

func median[T any](of []T, value func(T) float64) float64 {
	values := make([]float64, 0, len(of))
	for _, v := range of {
		values = append(values, value(v))
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }
