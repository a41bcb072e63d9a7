package listwatch

import (
	"encoding/json"
	"io"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/redact"
)

// CheckLine decodes a line as an event of a list and of a watch, and checks the results. Sending it through a
// stream would make fuzzing a thousand times slower.
func CheckLine(t *testing.T, line []byte) {
	t.Helper()
	for _, initial := range []bool{false, true} {
		for _, resource := range []string{"pods", "secrets"} {
			d := newDecoder(schema.GroupResource{Resource: resource}, redact.New(nil, "", resource))
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

// Compressed returns an Object with its own codec. The function freed is called after the codec has been freed.
func Compressed(text string, freed func()) *Object {
	objectCodec := new(codec)
	runtime.AddCleanup(objectCodec, func(freed func()) { freed() }, freed)
	o := &Object{codec: objectCodec}
	o.pack("a", "p", "", "1", []byte("[]"), objectCodec.encode(nil, []byte(text)))
	return o
}

// Decode decodes lines of a stream of pods, for a benchmark. The compression dictionary exists before the
// measurement. If initial is true, the lines belong to the list, otherwise to the watch after it.
func Decode(b *testing.B, lines [][]byte, initial bool) {
	b.Helper()
	d := newDecoder(schema.GroupResource{Resource: "pods"}, redact.New(nil, "", "pods"))
	d.beginList()
	decode := func(n int, initial bool) {
		if _, err := d.event(lines[n%len(lines)], initial); err != nil {
			b.Fatal(err)
		}
	}
	for n := range trainingObjects {
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
