package wire

import (
	"encoding/json"
	"io"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/redact"
)

// CheckLine decodes a line as each of the things it may be, and checks what
// comes of it. Only a line of a stream reaches this from outside, and a stream
// for each input would be a thousand times slower.
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
				t.Errorf("the text is %q, %v", text, err)
			}
			if e.managed != nil {
				if initial {
					t.Error("managedFields of a list are compressed")
				}
				if text, err := e.managed.JSON(); err != nil || !json.Valid(text) {
					t.Errorf("the managedFields are %q, %v", text, err)
				}
			}
			if row := e.object.AppendRow(nil); !json.Valid(row) {
				t.Errorf("the row is %q", row)
			}
		}
	}
}

// Compressed is an Object of a list of its own; gone is called once nobody holds what
// the text was compressed with.
func Compressed(text string, gone func()) *Object {
	own := new(codec)
	runtime.AddCleanup(own, func(gone func()) { gone() }, gone)
	o := &Object{codec: own}
	o.pack("a", "p", "", "1", []byte("[]"), own.encode(nil, []byte(text)))
	return o
}

// Decode decodes lines of pods' stream over and over, as those of a list, of whose
// objects a dictionary was made, or as what comes after it.
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
		decode(1+n%(len(lines)-1), initial) // Without the columns, which come once.
		n++
	}
}

// Gather reads a list from r as a stream does; ends has what comes then be read as it comes.
func Gather(r io.Reader) (list io.Reader, ends func()) {
	g := &gatherer{from: r, list: true}
	return g, func() { g.list = false }
}
