// Package severity determines how much attention a table row needs, only from the texts of its cells.
package severity

import (
	"strings"

	"glasshouse/internal/watch/cellsort"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
)

// Severity is how much attention a table cell needs. The page highlights the cell accordingly.
type Severity string

// The values of Severity, in increasing order.
const (
	None    Severity = ""
	Warning Severity = "warn" // The object is not, or not yet, in the desired state.
	Error   Severity = "bad"
)

const maxCached = 1000

// Classifier computes the severities of one resource's rows. It caches the severity of each status text, because
// there are few different texts. Only one goroutine at a time can use it.
type Classifier struct {
	stateColumns, readyColumns []int // Indices of the columns with a status, and of the columns named Ready.
	desired                    int   // Index of the column named Desired; -1 if there is none.
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

// Classify reports whether the row has a cell with the severity Error, and whether it has one with the severity
// Warning. The function OfRow implements the same rules.
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

// cellText returns the text of a cell as the page shows it.
func cellText(cell []byte) string {
	if len(cell) > 0 && (cell[0] == '"' || cell[0] == 'n') {
		text, _ := jsonscan.Unquote(cell)
		return text
	}
	return string(cell)
}

// OfRow returns the severity of each cell of a row. web/static/src/model/severity.ts implements the same rules.
// testdata/severities.json contains the test cases for both.
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
			// A completed object does not need to be ready.
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

// readySeverity returns the severity of a cell in a column named Ready. The text of the cell can be "1/2" (ready of
// total), the status of a condition ("True"), or only the number of ready objects. This number is compared with the
// parameter desired, which is the text of the cell in the column Desired.
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

// less reports whether a is less than b. Both are decimal numbers with any number of digits.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}
