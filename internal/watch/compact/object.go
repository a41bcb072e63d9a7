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

// Object is one object of the cluster: the values for tables and selectors, and the compressed redacted JSON text.
type Object struct {
	// data starts with namespace, name, uid and resourceVersion, each after its length. The cells, the verdict (see
	// verdict.Packed) and the body (the compressed text) follow.
	data        []byte
	cellsEnd    uint32                // Where the cells end, and the verdict begins.
	verdictEnd  uint32                // Where the verdict ends, and the body begins.
	created     seconds               // Creation time; 0 if unknown.
	managedTime seconds               // Newest time in the managedFields, which are not stored.
	labels      unique.Handle[string] // Labels as JSON text; objects with the same labels share it.
	codec       *codec
	textHash    uint64 // Hash of the redacted text. The seed of the hash is different in each process.
}

// seconds is a time in Unix seconds, up to the year 2106; 0 is the zero Time.
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

// SameUID reports whether two versions have the same UID. An object that was deleted and created again has another UID.
func (o *Object) SameUID(other *Object) bool { return o.UID() == other.UID() }

// Compare orders Objects by namespace, then by name.
func (o *Object) Compare(other *Object) int {
	if c := cellsort.CompareText(part(o, 0), part(other, 0)); c != 0 {
		return c
	}
	return cellsort.CompareText(part(o, 1), part(other, 1))
}

// Cell returns the cell with the index at, as JSON. It returns nil if the row has fewer cells.
func (o *Object) Cell(at int) (cell []byte) {
	c := jsonscan.NewCursor(o.Cells())
	_ = c.Array(func(i int) error {
		if i < at {
			return nil
		}
		cell, _ = c.Value()
		return jsonscan.ErrStop
	})
	return cell
}

// Cells returns the row's cells as a JSON array. A cell that the API server printed as an elapsed time ("5m") is a
// timestamp here. Callers must not change the array.
func (o *Object) Cells() []byte {
	_, rest := cut(o, 3)
	return o.data[len(o.data)-len(rest) : o.cellsEnd : o.cellsEnd]
}

// SameCells reports whether two Objects with the same resourceVersion have equal cells. It ignores timestamps. Some
// timestamps are computed from a rounded elapsed time, and therefore differ in each list.
func (o *Object) SameCells(other *Object) bool {
	a, b := o.Cells(), other.Cells()
	withoutTimes := func(cells []byte) []byte { return printer.TimestampPattern.ReplaceAll(cells, nil) }
	return bytes.Equal(a, b) || bytes.Equal(withoutTimes(a), withoutTimes(b))
}

// Created returns the creation time in whole seconds, or the zero Time if it is unknown.
func (o *Object) Created() time.Time { return o.created.time() }

// Labels returns the labels as a JSON object, or an empty text. Objects with equal text have equal handles.
func (o *Object) Labels() unique.Handle[string] { return o.labels }

// ManagedTime returns the newest time in the object's managedFields, in whole seconds. Some changes, such as a
// deletion that waits for finalizers, do not increase this time.
func (o *Object) ManagedTime() time.Time { return o.managedTime.time() }

// JSON returns the object's redacted text. Each call decompresses the text again.
func (o *Object) JSON() ([]byte, error) { return o.AppendJSON(nil) }

// SameText reports whether two Objects have the same redacted text. A CRD's new default, a version conversion or a
// newer API server changes the text, but not the resourceVersion.
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

// WithOwnVerdict returns a copy of the object with the given own verdict. An own verdict depends only on the object
// itself. The copy keeps the verdict that the object inherited from other objects, if any.
func (o *Object) WithOwnVerdict(own verdict.Packed) *Object {
	if v := o.Verdict(); v.IsInherited() {
		effective := v.Unpack()
		return o.WithVerdict(verdict.Inherit(own, &effective))
	}
	return o.WithVerdict(own)
}

// WithVerdict returns a copy of the object with another verdict.
func (o *Object) WithVerdict(v verdict.Packed) *Object {
	other := *o
	other.data = slices.Concat(o.data[:o.cellsEnd], v, bodyOf(o))
	other.verdictEnd = o.cellsEnd + uint32(len(v)) //nolint:gosec // The length is far below 4 GiB.
	return &other
}

// GetObjectKind returns an empty kind. client-go's Reflector requires the method, but nothing uses the result.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the Object itself, because an Object is immutable.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// GetObjectMeta returns the metadata that client-go's Reflector reads: namespace, name, UID and resourceVersion.
func (o *Object) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: o.Namespace(), Name: o.Name(), UID: types.UID(o.UID()), ResourceVersion: o.ResourceVersion(),
	}
}

// part returns a part of an object's data without a copy: 0 namespace, 1 name, 2 uid, 3 resourceVersion.
func part(o *Object, n int) []byte {
	text, _ := cut(o, n)
	return text
}

// cut returns a part of an object's data, and the data after it.
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

// pack sets the data of a new Object.
func pack(o *Object, m *Metadata, cells, verdict, body []byte) {
	var start [512]byte
	data := start[:0]
	for _, part := range []string{m.Namespace, m.Name, m.UID, m.ResourceVersion} {
		data = append(binary.AppendUvarint(data, uint64(len(part))), part...)
	}
	o.data = slices.Concat(data, cells, verdict, body)
	o.cellsEnd = uint32(len(data) + len(cells))      //nolint:gosec // The length is far below 4 GiB.
	o.verdictEnd = o.cellsEnd + uint32(len(verdict)) //nolint:gosec // The length is far below 4 GiB.
}
