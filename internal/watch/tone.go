package watch

import (
	"strings"

	"glasshouse/internal/watch/order"
	"glasshouse/internal/watch/rawjson"
	"glasshouse/internal/watch/wire"
)

// A Tone is the severity of a cell that shows a state. The page highlights the cell accordingly.
type Tone string

// The tones, by increasing severity: none, warning, error.
const (
	Calm    Tone = ""
	Waiting Tone = "warn" // A warning: the object is not, or not yet, in the desired state.
	Failing Tone = "bad"
)

// tones computes the severities of the rows of one resource. It caches the severity of each state text, because there
// are few different ones. Only one goroutine at a time may use it.
type tones struct {
	states, readies []int // The indexes of the columns that show a state, and of the columns Ready.
	desired         int   // The index of the column Desired; -1 if there is none.
	known           map[string]Tone
}

func newTones(columns []Column) *tones {
	t := &tones{desired: -1, known: make(map[string]Tone)}
	for i := range columns {
		switch order.Lower(columns[i].Name) {
		case "status", "phase", "state", "health", "type", "sync status", "health status":
			t.states = append(t.states, i)
		case "ready":
			t.readies = append(t.readies, i)
		case "desired":
			if t.desired < 0 {
				t.desired = i
			}
		}
	}
	return t
}

// of reports whether a cell of the row is Failing, and whether one is Waiting, by the same rules as the function Tones.
func (t *tones) of(o *wire.Object) (failing, waiting bool) {
	done := false
	for _, at := range t.states {
		text := cellText(o.Cell(at))
		tone, ok := t.known[text]
		if !ok {
			tone = stateTone(text)
			if len(t.known) < maxTexts {
				t.known[text] = tone
			}
		}
		failing, waiting = failing || tone == Failing, waiting || tone == Waiting
		done = done || isDone(text)
	}
	desired := ""
	if t.desired >= 0 && len(t.readies) > 0 {
		desired = cellText(o.Cell(t.desired))
	}
	for _, at := range t.readies {
		tone := readyTone(cellText(o.Cell(at)), desired)
		failing, waiting = failing || tone == Failing, waiting || tone == Waiting && !done
	}
	return failing, waiting
}

// cellText returns the text of a cell as a table shows it.
func cellText(cell []byte) string {
	if len(cell) > 0 && (cell[0] == '"' || cell[0] == 'n') {
		text, _ := rawjson.Unquote(cell) // Cells are well-formed JSON.
		return text
	}
	return string(cell) // A number or a boolean.
}

// Tones returns the severity of each cell of a row. static/src/tone.ts implements the same rules; testdata/tones.json
// contains the test cases for both.
func Tones(columns []Column, cells []string) []Tone {
	t := newTones(columns[:min(len(columns), len(cells))])
	all := make([]Tone, len(cells))
	done := false
	for _, at := range t.states {
		all[at] = stateTone(cells[at])
		done = done || isDone(cells[at])
	}
	desired := ""
	if t.desired >= 0 {
		desired = cells[t.desired]
	}
	for _, at := range t.readies {
		if all[at] = readyTone(cells[at], desired); all[at] == Waiting && done {
			// An object that has completed is not ready any more, and need not be.
			all[at] = Calm
		}
	}
	return all
}

func isDone(text string) bool {
	return text == "Completed" || text == "Succeeded" || text == "Complete"
}

func stateTone(text string) Tone {
	word, _, _ := strings.Cut(order.Lower(text), " ")
	has := func(parts string) bool {
		for part := range strings.FieldsSeq(parts) {
			if strings.Contains(word, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("backoff error errimage fail oomkilled evicted notready lost degraded exceeded invalid cannot " +
		"outofcpu outofmemory outofpods unhealthy denied signal: exitcode:"):
		return Failing
	case has("pending terminating creating deleting initializing init: progressing warning schedulingdisabled " +
		"outofsync missing unknown released waiting"):
		return Waiting
	}
	return Calm
}

// readyTone returns the severity of a cell that shows readiness: "1/2" (ready of total), the status of a condition, or
// a number alone. A number is compared with desired, the cell of another column, if there is one.
func readyTone(text, desired string) Tone {
	switch text {
	case "False":
		return Failing
	case "Unknown":
		return Waiting
	}
	n, of, found := strings.Cut(text, "/")
	if !found {
		of = desired
	}
	if isNumber(n) && isNumber(of) && less(n, of) {
		return Waiting
	}
	return Calm
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// less reports whether a is less than b. Both are decimal numbers of any length.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}
