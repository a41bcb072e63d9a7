// Package attack attacks the built program from outside, on a real API server. Each attack checks a bar, the required
// result. A bar is what a healthy viewer still gets, how much memory the program uses, or that planted secret data (a
// canary) is never sent.
//
// DASHBOARD names the program. BASELINE may name a second one: each attack then runs on both, and the table at the end
// has the figures of both. Figures of the baseline never fail a test. GLASSHOUSE_ATTACK=full selects the full form,
// with more connections and more routes; make attack sets it. The demo cluster of .ci/on-demo is required.
package attack

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestMain prints the table of all figures after the last test.
func TestMain(m *testing.M) {
	code := m.Run()
	if table := figures.markdown(); table != "" {
		fmt.Fprint(os.Stdout, "\n", table, "\n") //nolint:errcheck // The exit code reports the failures.
	}
	os.Exit(code)
}

// isFull reports whether the full form is selected.
func isFull() bool { return os.Getenv("GLASSHOUSE_ATTACK") == "full" }

// shortOrFull returns shortValue in the short form of the tests, and fullValue in the full form.
func shortOrFull[T any](shortValue, fullValue T) T {
	if isFull() {
		return fullValue
	}
	return shortValue
}

// figure is one row of the table: the finding, the bar, and the figures of the baseline (before) and of the program
// (after).
type figure struct{ finding, bar, before, after string }

// table collects the figures of all tests, in the order of their first measurement.
type table struct {
	mu   sync.Mutex
	rows []figure
}

var figures table

func (t *table) record(finding, bar, value string, isBaseline bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	row := t.row(finding, bar)
	if isBaseline {
		row.before = value
	} else {
		row.after = value
	}
}

func (t *table) row(finding, bar string) *figure {
	for i := range t.rows {
		if t.rows[i].finding == finding {
			return &t.rows[i]
		}
	}
	t.rows = append(t.rows, figure{finding: finding, bar: bar})
	return &t.rows[len(t.rows)-1]
}

func (t *table) markdown() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("| finding | before | after | bar |\n| --- | --- | --- | --- |\n")
	for _, row := range t.rows {
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", row.finding, row.before, row.after, row.bar)
	}
	return out.String()
}

// probe is one run of an attack on one program: the baseline or the program under test.
type probe struct {
	*testing.T

	path       string
	isBaseline bool // Whether this is the baseline.
}

// runOnEach runs an attack on the baseline, if there is one, and then on the program under test.
func runOnEach(t *testing.T, attack func(*probe)) {
	t.Helper()
	path := os.Getenv("DASHBOARD")
	if path == "" {
		t.Fatal("DASHBOARD must name the program; make test and make attack set it")
	}
	if baseline := os.Getenv("BASELINE"); baseline != "" {
		t.Run("baseline", func(t *testing.T) { attack(&probe{T: t, path: baseline, isBaseline: true}) })
	}
	t.Run("program", func(t *testing.T) { attack(&probe{T: t, path: path}) })
}

// require records a figure. The test fails if the program under test does not meet the bar.
func (p *probe) require(met bool, finding, bar, format string, args ...any) {
	p.Helper()
	p.report(met, finding, bar, format, args...)
	if !met && !p.isBaseline {
		p.Fail()
	}
}

// report records a figure. A missed bar is printed as missed, and does not fail the test.
func (p *probe) report(met bool, finding, bar, format string, args ...any) {
	p.Helper()
	value := fmt.Sprintf(format, args...)
	if !met {
		value += " (missed)"
	}
	figures.record(finding, bar, value, p.isBaseline)
	p.Logf("%s: %s; the bar is: %s", finding, value, bar)
}

// must ends the test if there is an error.
func must[T any](value T, err error) func(*probe) T {
	return func(p *probe) T {
		p.Helper()
		if err != nil {
			p.Fatal(err)
		}
		return value
	}
}

func (p *probe) check(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}
