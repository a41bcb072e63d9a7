// Package wire speaks to the API server: it lists and watches a resource as
// Tables that carry their objects, and makes of each row a compact Object.
//
// A Table (the Accept header of kubectl get) gives the server's own cells and
// the full object in one stream, for built-in kinds, custom resources and
// aggregated APIs alike. Servers that cannot print send plain objects, which
// get the columns Name and Age.
//
// Nothing is decoded into maps. A row's text is walked once for the few members
// that are wanted, redacted, compressed, and kept. Objects are immutable, and
// safe for concurrent use, once their list has ended or their event was sent.
package wire

import (
	"bytes"
	"fmt"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"glasshouse/internal/watch/order"
	"glasshouse/internal/watch/rawjson"
)

// An Object is one object of the cluster, as small as it can be kept: what
// tables and selectors need, and its redacted text, compressed.
type Object struct {
	// data is namespace, name, uid, resourceVersion, cells and body, one after
	// the other; ends holds where each but the last ends.
	data    []byte
	ends    [5]uint32
	created int64                 // Unix seconds; 0 is unknown.
	labels  unique.Handle[string] // JSON text; most objects share theirs.
	codec   *codec
	managed int64  // Unix seconds of the newest time in the managedFields, which are not kept.
	print   uint64 // Of the text, in this process.
}

// Namespace is empty for an object of the cluster.
func (o *Object) Namespace() string { return string(o.data[:o.ends[0]]) }

// Name is the object's metadata.name.
func (o *Object) Name() string { return string(o.data[o.ends[0]:o.ends[1]]) }

// UID may be empty: aggregated APIs need not set it.
func (o *Object) UID() string { return string(o.data[o.ends[1]:o.ends[2]]) }

// ResourceVersion is opaque, as the API conventions say.
func (o *Object) ResourceVersion() string { return string(o.data[o.ends[2]:o.ends[3]]) }

// text is the namespace, name, uid or resourceVersion, without a copy.
func (o *Object) text(part int) []byte {
	if part == 0 {
		return o.data[:o.ends[0]]
	}
	return o.data[o.ends[part-1]:o.ends[part]]
}

// Compare orders by namespace, then by name.
func (o *Object) Compare(other *Object) int {
	if c := order.CompareText(o.text(0), other.text(0)); c != 0 {
		return c
	}
	return order.CompareText(o.text(1), other.text(1))
}

// Cell is a cell of the row as JSON has it, or empty where there are not so many.
func (o *Object) Cell(at int) (cell []byte) {
	c := rawjson.NewCursor(o.Cells())
	_ = c.Array(func(i int) error { // Cells are well formed.
		if i < at {
			return nil
		}
		cell, _ = c.Value()
		return rawjson.ErrStop
	})
	return cell
}

// Cells is the JSON array of the row's cells. Cells of relative columns hold
// timestamps. The bytes are the Object's own and must not be changed.
func (o *Object) Cells() []byte { return o.data[o.ends[3]:o.ends[4]:o.ends[4]] }

// SameCells reports whether the cells of two Objects of one version are the same.
// Times may differ: where no path leads to one, it is reckoned anew with each
// list.
func (o *Object) SameCells(other *Object) bool {
	a, b := o.Cells(), other.Cells()
	return bytes.Equal(a, b) || bytes.Equal(stamp.ReplaceAll(a, nil), stamp.ReplaceAll(b, nil))
}

// Created is the creation time to the second, the zero Time where unknown.
func (o *Object) Created() time.Time {
	if o.created == 0 {
		return time.Time{}
	}
	return time.Unix(o.created, 0).UTC()
}

// Labels is the JSON object of the labels, or empty. Objects with equal text
// have equal handles.
func (o *Object) Labels() unique.Handle[string] { return o.labels }

// Managed is the newest time that the object's managedFields have, to the
// second: a change that leaves it as it was need not have been made by any of
// them. A deletion that waits for finalizers is such a change.
func (o *Object) Managed() time.Time { return time.Unix(o.managed, 0).UTC() }

// JSON is the object's redacted text, decompressed anew at each call.
func (o *Object) JSON() ([]byte, error) { return o.AppendJSON(nil) }

// SameText reports whether the texts of two Objects are the same. An object can
// have another at the same resourceVersion: a CRD's schema with another default, a
// conversion, or a newer API server makes it so.
func (o *Object) SameText(other *Object) bool { return o.print == other.print }

// AppendJSON appends the same to dst.
func (o *Object) AppendJSON(dst []byte) ([]byte, error) {
	text, err := o.codec.decode(dst, o.data[o.ends[4]:])
	if err != nil {
		return nil, fmt.Errorf("decompress %s/%s: %w", o.Namespace(), o.Name(), err)
	}
	return text, nil
}

// Size is about how many bytes of memory the Object holds.
func (o *Object) Size() int { return len(o.data) + 88 }

// RowSize is about how many bytes of memory its row takes on the wire.
func (o *Object) RowSize() int { return int(o.ends[4]) + 96 }

func (o *Object) pack(namespace, name, uid, resourceVersion string, cells, body []byte) {
	n := len(namespace) + len(name) + len(uid) + len(resourceVersion) + len(cells)
	data := make([]byte, 0, n+len(body))
	for i, part := range []string{namespace, name, uid, resourceVersion} {
		data = append(data, part...)
		o.ends[i] = uint32(len(data)) //nolint:gosec // Far below 4 GiB.
	}
	data = append(data, cells...)
	o.ends[4] = uint32(len(data)) //nolint:gosec // Far below 4 GiB.
	o.data = append(data, body...)
}

// repack replaces the body. Only for Objects that nobody else has seen.
func (o *Object) repack(c *codec, body []byte) {
	data := make([]byte, 0, int(o.ends[4])+len(body))
	data = append(data, o.data[:o.ends[4]]...)
	o.data = append(data, body...)
	o.codec = c
}

// GetObjectKind and DeepCopyObject make an Object a runtime.Object, which is
// what client-go's Reflector carries. The kind is never asked for.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the Object itself, which is immutable.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// GetObjectMeta gives the Reflector what it reads: the key and the
// resourceVersion.
func (o *Object) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{
		Namespace: o.Namespace(), Name: o.Name(), UID: types.UID(o.UID()), ResourceVersion: o.ResourceVersion(),
	}
}

// bookmark is the Reflector's view of a BOOKMARK event.
type bookmark struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (b *bookmark) DeepCopyObject() runtime.Object { return b }

// List is what a List request gives: Objects, and the list's metadata.
type List struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []*Object
}

// DeepCopyObject returns the List itself: its Objects are immutable.
func (l *List) DeepCopyObject() runtime.Object { return l }
