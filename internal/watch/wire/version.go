package wire

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"glasshouse/internal/watch/author"
)

// A Version is an Object as a watch brings it. Objects of a list come alone: who
// made them is long past.
type Version struct {
	*Object

	Managed *Managed // Nil where there are none, or they cannot be read.
}

// DeepCopyObject returns the Version itself, which is immutable.
func (v *Version) DeepCopyObject() runtime.Object { return v }

// Managed is the managedFields that an object had, for whoever keeps them
// beside it: they are as large as the rest of the object, and of use only as
// long as somebody may ask who made the change.
type Managed struct {
	newest author.Author
	alone  bool
	packed []byte
	codec  *codec
}

// Newest is the entry with the newest time; of several the last, and then it is
// not alone.
func (m *Managed) Newest() (newest author.Author, alone bool) { return m.newest, m.alone }

// JSON is the text of the managedFields, decompressed anew at each call.
func (m *Managed) JSON() ([]byte, error) {
	text, err := m.codec.decode(nil, m.packed)
	if err != nil {
		return nil, fmt.Errorf("decompress managedFields: %w", err)
	}
	return text, nil
}

// Size is about how many bytes of memory the Managed holds.
func (m *Managed) Size() int {
	return len(m.packed) + len(m.newest.Manager) + len(m.newest.Operation) + len(m.newest.Subresource) + 144
}

// manage compresses managedFields. Those of the event before are taken again
// where they are the same: who writes many times within a second leaves no
// trace but the first.
func (d *decoder) manage(text []byte) *Managed {
	if d.managed != nil && bytes.Equal(text, d.managedText) {
		return d.managed
	}
	newest, alone := author.Newest(text)
	if newest == nil {
		return nil
	}
	d.packed = d.managers.encode(d.packed, text)
	d.managed = &Managed{newest: *newest, alone: alone, packed: bytes.Clone(d.packed), codec: d.managers}
	d.managedText = append(d.managedText[:0], text...)
	return d.managed
}
