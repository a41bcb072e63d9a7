package listwatch

import (
	"encoding/json"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

// CheckLine decodes a line both as a list event and as a watch event. It uses no stream, which makes fuzzing a thousand
// times faster.
func CheckLine(t *testing.T, line []byte) {
	t.Helper()
	for _, initial := range []bool{false, true} {
		for _, resource := range []string{"pods", "secrets"} {
			d := newDecoder(schema.GroupResource{Resource: resource}, redact.New(nil, "", resource), new(health.Evaluator))
			if initial {
				d.beginList()
			}
			e, err := d.event(line, initial)
			if err != nil || e.object == nil {
				continue
			}
			if initial {
				d.endList()
			}
			text, err := e.object.JSON()
			if err != nil || !json.Valid(text) {
				t.Errorf("JSON: got %q, error %v", text, err)
			}
			if e.managed != nil {
				if initial {
					t.Error("managedFields of a list are kept as compressed data")
				}
				if text, err := e.managed.JSON(); err != nil || !json.Valid(text) {
					t.Errorf("managedFields: got %q, error %v", text, err)
				}
			}
			if row := e.object.AppendRow(nil); !json.Valid(row) {
				t.Errorf("AppendRow: got invalid JSON %q", row)
			}
		}
	}
}

// Decode decodes lines for a benchmark. If initial is true, the lines belong to a streaming list. Otherwise, they
// belong to the watch after the list.
func Decode(b *testing.B, lines [][]byte, initial bool) {
	b.Helper()
	d := newDecoder(schema.GroupResource{Resource: "pods"}, redact.New(nil, "", "pods"), new(health.Evaluator))
	d.beginList()
	decode := func(n int, initial bool) {
		if _, err := d.event(lines[n%len(lines)], initial); err != nil {
			b.Fatal(err)
		}
	}
	// Create the compression dictionary before the measurement.
	for n := 0; d.encoder.Collecting(); n++ {
		decode(n, true)
	}
	if !initial {
		d.endList()
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		decode(1+n%(len(lines)-1), initial)
		n++
	}
}

// ReadInBatches returns a reader that reads in batches, until the function endList is called.
func ReadInBatches(r io.Reader) (list io.Reader, endList func()) {
	g := &batchReader{source: r, isList: true}
	return g, func() { g.isList = false }
}
