// Package attack attacks the built program from outside. The tests require .ci/on-demo and environment variables:
//
//   - DASHBOARD is the path of the program.
//   - BASELINE can be the path of a second program, for comparison.
//   - GLASSHOUSE_ATTACK=full selects more connections and routes.
package attack

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if table := figures.markdown(); table != "" {
		fmt.Fprint(os.Stdout, "\n", table, "\n") //nolint:errcheck // The exit code reports the failures.
	}
	os.Exit(code)
}

func isFull() bool { return os.Getenv("GLASSHOUSE_ATTACK") == "full" }

func shortOrFull[T any](shortValue, fullValue T) T {
	if isFull() {
		return fullValue
	}
	return shortValue
}

// figure is a table row: a measurement, its required result, and the values of the baseline and of the tested program.
type figure struct{ finding, bar, before, after string }

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

type probe struct {
	*testing.T

	path       string
	isBaseline bool
}

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

func (p *probe) require(met bool, finding, bar, format string, args ...any) {
	p.Helper()
	p.report(met, finding, bar, format, args...)
	if !met && !p.isBaseline {
		p.Fail()
	}
}

// report records a result and whether it met the bar. In contrast to require, it never fails the test.
func (p *probe) report(met bool, finding, bar, format string, args ...any) {
	p.Helper()
	value := fmt.Sprintf(format, args...)
	if !met {
		value += " (missed)"
	}
	figures.record(finding, bar, value, p.isBaseline)
	p.Logf("%s: got %s, want %s", finding, value, bar)
}

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
