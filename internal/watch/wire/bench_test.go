package wire_test

import (
	"bytes"
	"os"
	"testing"

	"glasshouse/internal/watch/wire"
)

// What it takes to make an Object of a pod's event, its managedFields included.
func BenchmarkEvent(b *testing.B) {
	text, err := os.ReadFile("../testdata/pod-table.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	b.Run("listed", func(b *testing.B) { wire.Decode(b, lines, true) })
	b.Run("watched", func(b *testing.B) { wire.Decode(b, lines, false) })
}
