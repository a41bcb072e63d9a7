// Package compact stores objects of the cluster in little memory: table cells, and redacted JSON text that a dictionary
// of similar objects compresses. Objects are immutable.
package compact

import (
	"bytes"
	"fmt"
	"math"
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
	// data is namespace, name, uid, resourceVersion, cells, verdict (see verdict.Packed) and body (the compressed text).
	// ends contains where each part ends.
	data        []byte
	ends        [6]uint32
	created     seconds               // Creation time; 0 if unknown.
	managedTime seconds               // Newest time in the managedFields, which are not stored.
	labels      unique.Handle[string] // Labels as JSON text; objects with the same labels share it.
	codec       *codec
	textHash    uint64 // Hash of the redacted text. It is different in each process.
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
func (o *Object) Namespace() string { return string(o.data[:o.ends[0]]) }

// Name returns the object's metadata.name.
func (o *Object) Name() string { return string(o.data[o.ends[0]:o.ends[1]]) }

// UID returns the object's UID. It can be empty, because aggregated APIs are not required to set a UID.
func (o *Object) UID() string { return string(o.data[o.ends[1]:o.ends[2]]) }

// ResourceVersion returns the object's resourceVersion. Callers must treat it as opaque, as the Kubernetes API
// conventions require.
func (o *Object) ResourceVersion() string { return string(o.data[o.ends[2]:o.ends[3]]) }

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

// Cells returns the row's cells as a JSON array, with timestamps for elapsed times. Callers must not change the
// array.
func (o *Object) Cells() []byte { return o.data[o.ends[3]:o.ends[4]:o.ends[4]] }

// SameCells reports whether two Objects with the same resourceVersion have equal cells. It ignores timestamps: some
// are computed from a rounded elapsed time, and differ in each list.
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
func (o *Object) Size() int { return len(o.data) + 80 }

// RowSize returns the approximate memory of the Object's row (see AppendRow), in bytes.
func (o *Object) RowSize() int { return int(o.ends[5]) + 96 }

// Verdict returns the verdict on the object. Callers must not change it.
func (o *Object) Verdict() verdict.Packed { return o.data[o.ends[4]:o.ends[5]] }

// WithOwnVerdict returns a copy of the object with another verdict on the object alone. An inherited verdict stays.
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
	other.data = append(append(bytes.Clone(o.data[:o.ends[4]]), v...), bodyOf(o)...)
	other.ends[5] = o.ends[4] + uint32(len(v)) //nolint:gosec // The length is far below 4 GiB.
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
	if n == 0 {
		return o.data[:o.ends[0]]
	}
	return o.data[o.ends[n-1]:o.ends[n]]
}

// bodyOf returns the compressed text of an object.
func bodyOf(o *Object) []byte { return o.data[o.ends[5]:] }

// pack sets the data of a new Object.
func pack(o *Object, m *Metadata, cells, verdict, body []byte) {
	n := len(m.Namespace) + len(m.Name) + len(m.UID) + len(m.ResourceVersion) + len(cells) + len(verdict)
	data := make([]byte, 0, n+len(body))
	for i, part := range []string{m.Namespace, m.Name, m.UID, m.ResourceVersion} {
		data = append(data, part...)
		o.ends[i] = uint32(len(data)) //nolint:gosec // The length is far below 4 GiB.
	}
	data = append(data, cells...)
	o.ends[4] = uint32(len(data)) //nolint:gosec // The length is far below 4 GiB.
	data = append(data, verdict...)
	o.ends[5] = uint32(len(data)) //nolint:gosec // The length is far below 4 GiB.
	o.data = append(data, body...)
}
