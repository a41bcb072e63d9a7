// Package severity determines how much attention a table row needs, from the texts of its cells.
package severity

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cellsort"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

// Severity is how much attention a table cell needs. The page highlights the cell accordingly.
type Severity string

// The values of Severity, in increasing order.
const (
	None    Severity = ""
	Warning Severity = "warn"
	Error   Severity = "bad"
)

const maxCached = 1000

// Classifier computes the severities of one resource's rows. Only one goroutine at a time can use it.
type Classifier struct {
	stateColumns, readyColumns []int
	desired                    int // index of the column Desired; -1 if there is none
	cached                     map[string]Severity
}

// NewClassifier returns a Classifier for rows with these columns.
func NewClassifier(columns []listwatch.Column) *Classifier {
	t := &Classifier{desired: -1, cached: make(map[string]Severity)}
	for i := range columns {
		switch cellsort.Lower(columns[i].Name) {
		case "status", "phase", "state", "health", "type", "sync status", "health status":
			t.stateColumns = append(t.stateColumns, i)
		case "ready":
			t.readyColumns = append(t.readyColumns, i)
		case "desired":
			if t.desired < 0 {
				t.desired = i
			}
		}
	}
	return t
}

// Classify reports whether a cell of the row has the severity Error, and whether one has Warning.
func (t *Classifier) Classify(o *listwatch.Object) (hasError, hasWarning bool) {
	done := false
	for _, at := range t.stateColumns {
		text := cellText(o.Cell(at))
		severity, ok := t.cached[text]
		if !ok {
			severity = stateSeverity(text)
			if len(t.cached) < maxCached {
				t.cached[text] = severity
			}
		}
		hasError, hasWarning = hasError || severity == Error, hasWarning || severity == Warning
		done = done || isCompleted(text)
	}
	desired := ""
	if t.desired >= 0 && len(t.readyColumns) > 0 {
		desired = cellText(o.Cell(t.desired))
	}
	for _, at := range t.readyColumns {
		severity := readySeverity(cellText(o.Cell(at)), desired)
		hasError, hasWarning = hasError || severity == Error, hasWarning || severity == Warning && !done
	}
	return hasError, hasWarning
}

func cellText(cell []byte) string {
	if len(cell) > 0 && (cell[0] == '"' || cell[0] == 'n') {
		text, _ := jsonscan.Unquote(cell)
		return text
	}
	return string(cell)
}

// OfRow returns the severity of each cell of a row. web/static/src/model/severity.ts has the same rules and test
// cases.
func OfRow(columns []listwatch.Column, cells []string) []Severity {
	t := NewClassifier(columns[:min(len(columns), len(cells))])
	all := make([]Severity, len(cells))
	done := false
	for _, at := range t.stateColumns {
		all[at] = stateSeverity(cells[at])
		done = done || isCompleted(cells[at])
	}
	desired := ""
	if t.desired >= 0 {
		desired = cells[t.desired]
	}
	for _, at := range t.readyColumns {
		if all[at] = readySeverity(cells[at], desired); all[at] == Warning && done {
			all[at] = None
		}
	}
	return all
}

func isCompleted(text string) bool {
	return text == "Completed" || text == "Succeeded" || text == "Complete"
}

func stateSeverity(text string) Severity {
	word, _, _ := strings.Cut(cellsort.Lower(text), " ")
	containsAny := func(parts string) bool {
		for part := range strings.FieldsSeq(parts) {
			if strings.Contains(word, part) {
				return true
			}
		}
		return false
	}
	switch {
	case containsAny("backoff error errimage fail oomkilled evicted notready lost degraded exceeded invalid cannot " +
		"outofcpu outofmemory outofpods unhealthy denied signal: exitcode:"):
		return Error
	case containsAny("pending terminating creating deleting initializing init: progressing warning schedulingdisabled " +
		"outofsync missing unknown released waiting"):
		return Warning
	}
	return None
}

// readySeverity returns the severity of a cell such as "1/2" or "True". A number is compared with desired.
func readySeverity(text, desired string) Severity {
	switch text {
	case "False":
		return Error
	case "Unknown":
		return Warning
	}
	n, total, found := strings.Cut(text, "/")
	if !found {
		total = desired
	}
	if isNumber(n) && isNumber(total) && less(n, total) {
		return Warning
	}
	return None
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}
