// Package listwatch is the client of the API server. It lists and watches a resource as Tables that contain the
// objects, and makes a compact Object from each row.
//
// A Table (the Accept header of kubectl get) provides the server's own cells and the full object in one stream. This
// works for built-in kinds, custom resources and aggregated APIs alike. Servers that cannot print Tables send plain
// objects, which get the columns Name and Age.
//
// Nothing is decoded into maps. The text of a row is parsed once for the few members that are needed, redacted,
// compressed, and stored. Objects are immutable and safe for concurrent use after their list has ended or their event
// was sent.
package listwatch

import (
	"bytes"
	"fmt"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"glasshouse/internal/watch/cellsort"
	"glasshouse/internal/watch/jsonscan"
)

// Object is one object of the cluster in compact form. It contains what tables and selectors need, and the compressed,
// redacted text of the object.
type Object struct {
	// data contains namespace, name, uid, resourceVersion, cells and body (the compressed text), one after the other.
	// ends contains the index at which each part ends, except the last.
	data        []byte
	ends        [5]uint32
	created     int64                 // Unix seconds; 0 if unknown.
	labels      unique.Handle[string] // JSON text; most objects share it with other objects.
	codec       *codec
	managedTime int64  // The newest time in the managedFields, in Unix seconds. The managedFields are not stored.
	textHash    uint64 // Hash of the redacted text, valid only in this process.
}

// Namespace returns the object's namespace, which is empty for a cluster-scoped object.
func (o *Object) Namespace() string { return string(o.data[:o.ends[0]]) }

// Name returns the object's metadata.name.
func (o *Object) Name() string { return string(o.data[o.ends[0]:o.ends[1]]) }

// UID returns the object's UID. It may be empty: aggregated APIs need not set it.
func (o *Object) UID() string { return string(o.data[o.ends[1]:o.ends[2]]) }

// ResourceVersion returns the object's resourceVersion. It is opaque, as the API conventions require.
func (o *Object) ResourceVersion() string { return string(o.data[o.ends[2]:o.ends[3]]) }

// text returns a part of data without a copy: 0 is the namespace, 1 the name, 2 the uid, 3 the resourceVersion.
func (o *Object) text(part int) []byte {
	if part == 0 {
		return o.data[:o.ends[0]]
	}
	return o.data[o.ends[part-1]:o.ends[part]]
}

// Compare orders Objects by namespace, then by name.
func (o *Object) Compare(other *Object) int {
	if c := cellsort.CompareText(o.text(0), other.text(0)); c != 0 {
		return c
	}
	return cellsort.CompareText(o.text(1), other.text(1))
}

// Cell returns the cell of the row at an index as JSON. It returns nothing if the row has fewer cells.
func (o *Object) Cell(at int) (cell []byte) {
	c := jsonscan.NewCursor(o.Cells())
	_ = c.Array(func(i int) error { // The cells are valid JSON, so there is no error.
		if i < at {
			return nil
		}
		cell, _ = c.Value()
		return jsonscan.ErrStop
	})
	return cell
}

// Cells returns the JSON array of the row's cells. Cells that show elapsed time contain timestamps. The bytes belong to
// the Object and must not be changed.
func (o *Object) Cells() []byte { return o.data[o.ends[3]:o.ends[4]:o.ends[4]] }

// SameCells reports whether two Objects of one version have the same cells. Timestamps are ignored: if no path in the
// object leads to a timestamp, each list computes it again.
func (o *Object) SameCells(other *Object) bool {
	a, b := o.Cells(), other.Cells()
	return bytes.Equal(a, b) || bytes.Equal(timestampPattern.ReplaceAll(a, nil), timestampPattern.ReplaceAll(b, nil))
}

// Created returns the creation time to the second, or the zero Time if it is unknown.
func (o *Object) Created() time.Time {
	if o.created == 0 {
		return time.Time{}
	}
	return time.Unix(o.created, 0).UTC()
}

// Labels returns the labels as the text of a JSON object, or an empty text. Objects with equal text have equal handles.
func (o *Object) Labels() unique.Handle[string] { return o.labels }

// ManagedTime returns the newest time in the object's managedFields, to the second. If a change does not change this
// time, possibly no field manager in the managedFields made the change. A deletion that waits for finalizers is an
// example.
func (o *Object) ManagedTime() time.Time { return time.Unix(o.managedTime, 0).UTC() }

// JSON returns the object's redacted text. Each call decompresses it again.
func (o *Object) JSON() ([]byte, error) { return o.AppendJSON(nil) }

// SameText reports whether two Objects have the same text. The text can change while the resourceVersion stays the
// same. Causes are a new default in a CRD's schema, a conversion, or a newer API server.
func (o *Object) SameText(other *Object) bool { return o.textHash == other.textHash }

// AppendJSON appends the object's redacted text to dst.
func (o *Object) AppendJSON(dst []byte) ([]byte, error) {
	text, err := o.codec.decode(dst, o.data[o.ends[4]:])
	if err != nil {
		return nil, fmt.Errorf("decompress %s/%s: %w", o.Namespace(), o.Name(), err)
	}
	return text, nil
}

// Size returns the approximate memory that the Object uses, in bytes.
func (o *Object) Size() int { return len(o.data) + 88 }

// RowSize returns the approximate memory of the row that AppendRow writes, in bytes.
func (o *Object) RowSize() int { return int(o.ends[4]) + 96 }

func (o *Object) pack(namespace, name, uid, resourceVersion string, cells, body []byte) {
	n := len(namespace) + len(name) + len(uid) + len(resourceVersion) + len(cells)
	data := make([]byte, 0, n+len(body))
	for i, part := range []string{namespace, name, uid, resourceVersion} {
		data = append(data, part...)
		o.ends[i] = uint32(len(data)) //nolint:gosec // The length is far below 4 GiB.
	}
	data = append(data, cells...)
	o.ends[4] = uint32(len(data)) //nolint:gosec // The length is far below 4 GiB.
	o.data = append(data, body...)
}

// repack replaces the body (the compressed text). It may be called only for Objects that no other code has received.
func (o *Object) repack(c *codec, body []byte) {
	data := make([]byte, 0, int(o.ends[4])+len(body))
	data = append(data, o.data[:o.ends[4]]...)
	o.data = append(data, body...)
	o.codec = c
}

// GetObjectKind makes an Object a runtime.Object, together with DeepCopyObject. client-go's Reflector requires that. No
// code uses the kind.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the Object itself, which is immutable.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// GetObjectMeta returns the metadata that the Reflector reads: the key and the resourceVersion.
func (o *Object) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: o.Namespace(), Name: o.Name(), UID: types.UID(o.UID()), ResourceVersion: o.ResourceVersion(),
	}
}

// bookmark is the object of a BOOKMARK event in the form that client-go's Reflector reads.
type bookmark struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (b *bookmark) DeepCopyObject() runtime.Object { return b }

// List is the result of a list request: Objects, and the list's metadata.
type List struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []*Object
}

// DeepCopyObject returns the List itself, because its Objects are immutable.
func (l *List) DeepCopyObject() runtime.Object { return l }
