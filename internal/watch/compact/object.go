// Package compact stores objects of the cluster in little memory. An Object has table cells and redacted JSON text. The
// text is compressed with a dictionary, which is built from similar objects. Objects are immutable.
package compact

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/glasshouse-project/glasshouse/internal/watch/cellsort"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Object is one object of the cluster. It contains the values for tables and selectors, and the compressed redacted
// JSON text.
type Object struct {
	// data contains namespace, name, uid, resourceVersion and the extra cells (see Extra), each preceded by its length,
	// then the cells, the verdict (see verdict.Packed), and the body (the compressed text).
	data        []byte
	cellsEnd    uint32                // Where the cells end and the verdict begins, as an index in data.
	verdictEnd  uint32                // Where the verdict ends and the body begins, as an index in data.
	created     seconds               // Creation time; 0 if unknown.
	managedTime seconds               // Newest time in the managedFields, which are not stored.
	labels      unique.Handle[string] // JSON text of the labels; objects with equal labels share it.
	codec       *codec
	textHash    uint64 // Hash of the redacted text, with a random seed for each process.
}

// seconds is a time in Unix seconds, up to the year 2106. 0 is the zero Time.
type seconds uint32

func secondsOf(t time.Time) seconds { return seconds(min(max(t.Unix(), 0), math.MaxUint32)) }

func (s seconds) time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0).UTC()
}

// Namespace returns the object's namespace, or an empty string for a cluster-scoped object.
func (o *Object) Namespace() string { return string(part(o, 0)) }

// Name returns the object's metadata.name.
func (o *Object) Name() string { return string(part(o, 1)) }

// UID returns the object's UID. It can be empty, because aggregated APIs are not required to set a UID.
func (o *Object) UID() string { return string(part(o, 2)) }

// ResourceVersion returns the object's resourceVersion. Callers must treat it as opaque, as the Kubernetes API
// conventions require.
func (o *Object) ResourceVersion() string { return string(part(o, 3)) }

// SameUID reports whether two versions of an object have the same UID. If an object is deleted and created again, its
// UID changes.
func (o *Object) SameUID(other *Object) bool { return o.UID() == other.UID() }

// Compare orders Objects by namespace, then by name.
func (o *Object) Compare(other *Object) int {
	if c := cellsort.CompareText(part(o, 0), part(other, 0)); c != 0 {
		return c
	}
	return cellsort.CompareText(part(o, 1), part(other, 1))
}

// Cell returns the cell at an index of the row, as JSON. It returns nil if the row has fewer cells.
func (o *Object) Cell(at int) (cell []byte) { return cellAt(o.Cells(), at) }

func cellAt(cells []byte, at int) (cell []byte) {
	if len(cells) == 0 {
		return nil
	}
	c := jsonscan.NewCursor(cells)
	_ = c.Array(func(i int) error {
		if i < at {
			return nil
		}
		cell, _ = c.Value()
		return jsonscan.ErrStop
	})
	return cell
}

// Cells returns the row's cells as a JSON array. If the API server printed an elapsed time ("5m"), the cell contains
// the timestamp instead. Callers must not change the array.
func (o *Object) Cells() []byte {
	_, rest := cut(o, extraPart)
	return o.data[len(o.data)-len(rest) : o.cellsEnd : o.cellsEnd]
}

// SameCells reports whether two Objects with the same resourceVersion have equal cells, without regard to timestamps. A
// timestamp that is computed from a rounded elapsed time differs in each list, although the object has not changed.
func (o *Object) SameCells(other *Object) bool {
	a, b := o.Cells(), other.Cells()
	withoutTimes := func(cells []byte) []byte { return printer.TimestampPattern.ReplaceAll(cells, nil) }
	return bytes.Equal(a, b) || bytes.Equal(withoutTimes(a), withoutTimes(b))
}

// Created returns the creation time, rounded down to seconds, or the zero Time if it is unknown.
func (o *Object) Created() time.Time { return o.created.time() }

// Labels returns the labels as JSON text, which is empty if there are none. Objects whose labels have equal text have
// equal handles.
func (o *Object) Labels() unique.Handle[string] { return o.labels }

// ManagedTime returns the newest time in the managedFields of the object, with a precision of 1 s. Some changes do not
// update this time, for example a deletion that waits for finalizers.
func (o *Object) ManagedTime() time.Time { return o.managedTime.time() }

// JSON returns the object's redacted text. Each call decompresses the text again.
func (o *Object) JSON() ([]byte, error) { return o.AppendJSON(nil) }

// SameText reports whether two Objects have the same redacted text. Two texts with the same resourceVersion can differ,
// for example because of a new default in a CRD, a version conversion or a newer API server.
func (o *Object) SameText(other *Object) bool { return o.textHash == other.textHash }

// AppendJSON appends the object's redacted JSON text to dst.
func (o *Object) AppendJSON(dst []byte) ([]byte, error) {
	text, err := o.codec.decode(dst, bodyOf(o))
	if err != nil {
		return nil, fmt.Errorf("decompress %s/%s: %w", o.Namespace(), o.Name(), err)
	}
	return text, nil
}

// Size returns the approximate memory of the Object, in bytes.
func (o *Object) Size() int { return len(o.data) + 64 }

// RowSize returns the approximate memory of the Object's row (see AppendRow), in bytes.
func (o *Object) RowSize() int { return int(o.verdictEnd) + 96 }

// Verdict returns the verdict on the object. Callers must not change it.
func (o *Object) Verdict() verdict.Packed { return o.data[o.cellsEnd:o.verdictEnd] }

// WithOwnVerdict returns a copy of the object with own instead of its own verdict. The own verdict depends only on the
// object itself. If the object has also inherited a verdict from other objects, the copy keeps the inherited verdict.
func (o *Object) WithOwnVerdict(own verdict.Packed) *Object {
	if v := o.Verdict(); v.IsInherited() {
		effective := v.Unpack()
		return o.WithVerdict(verdict.Inherit(own, &effective))
	}
	return o.WithVerdict(own)
}

// WithVerdict returns a copy of the object with the verdict v instead of its current verdict.
func (o *Object) WithVerdict(v verdict.Packed) *Object {
	other := *o
	other.data = slices.Concat(o.data[:o.cellsEnd], v, bodyOf(o))
	other.verdictEnd = o.cellsEnd + uint32(len(v)) //nolint:gosec // The length is far below 4 GiB.
	return &other
}

// GetObjectKind returns an empty kind. The method is only needed because the interface of client-go's Reflector
// requires it.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the Object itself, because an Object is immutable.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// GetObjectMeta returns the metadata that client-go's Reflector reads: namespace, name, UID and resourceVersion.
func (o *Object) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: o.Namespace(), Name: o.Name(), UID: types.UID(o.UID()), ResourceVersion: o.ResourceVersion(),
	}
}

// part returns the part with index n of an object's data, without copying it: 0 is the namespace, 1 the name, 2 the
// uid, 3 the resourceVersion, and extraPart the cells of the extra columns.
func part(o *Object, n int) []byte {
	text, _ := cut(o, n)
	return text
}

// cut returns the part with index n (see part) of an object's data, and the data after this part.
func cut(o *Object, n int) (text, rest []byte) {
	rest = o.data
	for range n + 1 {
		length, start := binary.Uvarint(rest)
		end := start + int(length) //nolint:gosec // The function pack wrote the length.
		text, rest = rest[start:end], rest[end:]
	}
	return text, rest
}

// bodyOf returns the compressed text of an object.
func bodyOf(o *Object) []byte { return o.data[o.verdictEnd:] }

// pack joins the parts of a new Object in its field data, and sets its fields cellsEnd and verdictEnd.
func pack(o *Object, p *Parts, body []byte) {
	var start [512]byte
	data := start[:0]
	for _, part := range []string{p.Namespace, p.Name, p.UID, p.ResourceVersion, string(p.Extra)} {
		data = append(binary.AppendUvarint(data, uint64(len(part))), part...)
	}
	o.data = slices.Concat(data, p.Cells, p.Verdict, body)
	o.cellsEnd = uint32(len(data) + len(p.Cells))      //nolint:gosec // The length is far below 4 GiB.
	o.verdictEnd = o.cellsEnd + uint32(len(p.Verdict)) //nolint:gosec // The length is far below 4 GiB.
}
