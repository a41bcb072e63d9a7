package watch

import (
	"strings"

	"glasshouse/internal/watch/cellsort"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
)

// A Severity is the severity of a cell that shows a state. The page highlights the cell accordingly.
type Severity string

// The severities, by increasing severity: none, warning, error.
const (
	SeverityNone    Severity = ""
	SeverityWarning Severity = "warn" // A warning: the object is not, or not yet, in the desired state.
	SeverityError   Severity = "bad"
)

// severityClassifier computes the severities of the rows of one resource. It caches the severity of each state text, because there
// are few different ones. Only one goroutine at a time may use it.
type severityClassifier struct {
	stateColumns, readyColumns []int // The indexes of the columns that show a state, and of the columns Ready.
	desired                    int   // The index of the column Desired; -1 if there is none.
	cached                     map[string]Severity
}

func newSeverityClassifier(columns []Column) *severityClassifier {
	t := &severityClassifier{desired: -1, cached: make(map[string]Severity)}
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

// classify reports whether a cell of the row is SeverityError, and whether one is SeverityWarning, by the same rules as the function RowSeverities.
func (t *severityClassifier) classify(o *listwatch.Object) (hasError, hasWarning bool) {
	done := false
	for _, at := range t.stateColumns {
		text := cellText(o.Cell(at))
		severity, ok := t.cached[text]
		if !ok {
			severity = stateSeverity(text)
			if len(t.cached) < maxTexts {
				t.cached[text] = severity
			}
		}
		hasError, hasWarning = hasError || severity == SeverityError, hasWarning || severity == SeverityWarning
		done = done || isCompleted(text)
	}
	desired := ""
	if t.desired >= 0 && len(t.readyColumns) > 0 {
		desired = cellText(o.Cell(t.desired))
	}
	for _, at := range t.readyColumns {
		severity := readySeverity(cellText(o.Cell(at)), desired)
		hasError, hasWarning = hasError || severity == SeverityError, hasWarning || severity == SeverityWarning && !done
	}
	return hasError, hasWarning
}

// cellText returns the text of a cell as a table shows it.
func cellText(cell []byte) string {
	if len(cell) > 0 && (cell[0] == '"' || cell[0] == 'n') {
		text, _ := jsonscan.Unquote(cell) // Cells are well-formed JSON.
		return text
	}
	return string(cell) // A number or a boolean.
}

// RowSeverities returns the severity of each cell of a row. static/src/severity.ts implements the same rules; testdata/tones.json
// contains the test cases for both.
func RowSeverities(columns []Column, cells []string) []Severity {
	t := newSeverityClassifier(columns[:min(len(columns), len(cells))])
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
		if all[at] = readySeverity(cells[at], desired); all[at] == SeverityWarning && done {
			// An object that has completed is not ready any more, and need not be.
			all[at] = SeverityNone
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
		return SeverityError
	case containsAny("pending terminating creating deleting initializing init: progressing warning schedulingdisabled " +
		"outofsync missing unknown released waiting"):
		return SeverityWarning
	}
	return SeverityNone
}

// readySeverity returns the severity of a cell that shows readiness: "1/2" (ready of total), the status of a condition, or
// a number alone. A number is compared with desired, the cell of another column, if there is one.
func readySeverity(text, desired string) Severity {
	switch text {
	case "False":
		return SeverityError
	case "Unknown":
		return SeverityWarning
	}
	n, total, found := strings.Cut(text, "/")
	if !found {
		total = desired
	}
	if isNumber(n) && isNumber(total) && less(n, total) {
		return SeverityWarning
	}
	return SeverityNone
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// less reports whether a is less than b. Both are decimal numbers of any length.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}
