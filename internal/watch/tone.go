package watch

import (
	"strings"

	"glasshouse/internal/watch/order"
	"glasshouse/internal/watch/rawjson"
	"glasshouse/internal/watch/wire"
)

// A Tone is how a cell that tells a state stands out.
type Tone string

// The tones.
const (
	Calm    Tone = ""
	Waiting Tone = "warn" // It is not, or not yet, as it should be.
	Failing Tone = "bad"
)

// tones tells rows' tones: of many rows few tell something that no other does. It
// is for one goroutine at a time.
type tones struct {
	states, readies []int // The columns that tell.
	desired         int   // The column of how many there are to be; -1 for none.
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

// of reports whether a cell of the row is Failing, and whether one is Waiting, as
// Tones have it.
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

// cellText is a cell as a person reads it.
func cellText(cell []byte) string {
	if len(cell) > 0 && (cell[0] == '"' || cell[0] == 'n') {
		text, _ := rawjson.Unquote(cell) // Cells are well formed.
		return text
	}
	return string(cell) // A number or truth value.
}

// Tones are those of a row's cells. static/src/tone.ts is the same;
// testdata/tones.json holds both to it.
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
			all[at] = Calm // What has run to its end is not ready any more, and need not be.
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
	case has("backoff error errimage fail oomkilled evicted notready lost degraded exceeded invalid cannot outofcpu outofmemory outofpods unhealthy denied signal: exitcode:"):
		return Failing
	case has("pending terminating creating deleting initializing init: progressing warning schedulingdisabled outofsync missing unknown released waiting"):
		return Waiting
	}
	return Calm
}

// readyTone reads "1/2", how many of how many are ready, or a condition; a number
// alone is of as many as are desired, where another column has that.
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

// less compares numbers of any length.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}
