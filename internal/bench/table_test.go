//go:build integration

package bench_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

type figures []float64

func (f figures) median() float64 {
	sorted := slices.Sorted(slices.Values(f))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func (f figures) worst() float64 { return slices.Max(f) }

// String formats the median and the maximum deviation from it in percent.
func (f figures) String() string {
	median, off := f.median(), 0.0
	for _, v := range f {
		off = max(off, math.Abs(v-median))
	}
	text := short(median)
	if len(f) > 1 && median != 0 {
		text += fmt.Sprintf(" ±%.0f%%", 100*off/math.Abs(median))
	}
	return text
}

// short formats a number with three significant digits, at most three decimals, and all digits before the decimal
// point. For example, it returns 0.123, 12.3 and 12346.
func short(v float64) string {
	digits := 0
	for size := math.Abs(v); size != 0 && size < 100 && digits < 3; size *= 10 {
		digits++
	}
	return fmt.Sprintf("%.*f", digits, v)
}

type row struct {
	title        string
	baselineName string
	baseline     figures
	ours         figures
	bar          bar
}

// bar is the limit for a result, relative to the result of the baseline, such as "at most x 1.30".
type bar struct {
	text    string
	compare func(baseline, ours float64) (float64, string)
	met     func(float64) bool
}

func ratio(baseline, ours float64) (float64, string) {
	return ours / baseline, fmt.Sprintf("x %.2f", ours/baseline)
}

func fraction(baseline, ours float64) (float64, string) {
	return ours / baseline, fmt.Sprintf("1/%.1f", baseline/ours)
}

func difference(baseline, ours float64) (float64, string) {
	sign := map[bool]string{true: "- ", false: "+ "}[ours < baseline]
	return ours - baseline, sign + short(math.Abs(ours-baseline))
}

func absolute(_, ours float64) (float64, string) { return ours, "" }

func atMost(limit float64) func(float64) bool  { return func(v float64) bool { return v <= limit } }
func atLeast(limit float64) func(float64) bool { return func(v float64) bool { return v >= limit } }

func comparisonOnly(compare func(baseline, ours float64) (float64, string)) bar {
	return bar{compare: compare}
}

type table []row

func (t *table) add(r row) { *t = append(*t, r) }

func (t table) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") }
	line("what", "baseline, in the same run", "", "ours", "", "bar", "")
	for _, r := range t {
		baseline, median := "", 0.0
		if len(r.baseline) > 0 {
			baseline, median = r.baseline.String(), r.baseline.median()
		}
		value, compared := r.bar.compare(median, r.ours.median())
		result := ""
		if r.bar.met != nil {
			result = map[bool]string{true: "met", false: "MISSED"}[r.bar.met(value)]
		}
		line(r.title, r.baselineName, baseline, r.ours.String(), compared, r.bar.text, result)
	}
	_ = w.Flush()
	return out.String()
}
