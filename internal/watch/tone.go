package watch

import (
	"slices"
	"strings"

	"glasshouse/internal/watch/order"
)

// A Tone is how a cell that tells a state stands out.
type Tone string

// The tones.
const (
	Calm    Tone = ""
	Waiting Tone = "warn" // It is not, or not yet, as it should be.
	Failing Tone = "bad"
)

// Tones are those of a row's cells. static/src/tone.ts is the same;
// testdata/tones.json holds both to it.
func Tones(columns []Column, cells []string) []Tone {
	tones := make([]Tone, len(cells))
	done := false
	for i := range min(len(columns), len(cells)) {
		switch order.Lower(columns[i].Name) {
		case "status", "phase", "state", "health", "type", "sync status", "health status":
			tones[i] = stateTone(cells[i])
			done = done || slices.Contains([]string{"Completed", "Succeeded", "Complete"}, cells[i])
		case "ready":
			tones[i] = readyTone(cells[i])
		}
	}
	for i := range tones { // What has run to its end is not ready any more, and need not be.
		if done && tones[i] == Waiting && order.Lower(columns[i].Name) == "ready" {
			tones[i] = Calm
		}
	}
	return tones
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

// readyTone reads "1/2", how many of how many are ready, or a condition.
func readyTone(text string) Tone {
	switch text {
	case "False":
		return Failing
	case "Unknown":
		return Waiting
	}
	n, of, found := strings.Cut(text, "/")
	if found && isNumber(n) && isNumber(of) && less(n, of) {
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
