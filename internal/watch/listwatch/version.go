package listwatch

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"glasshouse/internal/watch/fieldmanager"
)

// Version is an Object from a watch event, together with its managedFields. Objects from a list have no
// managedFields, because these are needed only to find the author of a change.
type Version struct {
	*Object

	Managed *Managed // The managedFields; nil if there are none or they cannot be read.
}

// DeepCopyObject returns the Version itself, because a Version is immutable.
func (v *Version) DeepCopyObject() runtime.Object { return v }

// Managed contains an object's compressed managedFields, which record the authors of changes. It is separate from
// Object, because managedFields are as large as the rest of the object, and are needed only for recent changes, whose
// author a reader can request.
type Managed struct {
	newest      fieldmanager.Author
	unambiguous bool
	packed      []byte
	codec       *codec
}

// Newest returns the managedFields entry with the newest time. If several entries have this time, it returns the last
// of them, and the result unambiguous is false.
func (m *Managed) Newest() (newest fieldmanager.Author, unambiguous bool) {
	return m.newest, m.unambiguous
}

// JSON returns the text of the managedFields. Each call decompresses the text again.
func (m *Managed) JSON() ([]byte, error) {
	text, err := m.codec.decode(nil, m.packed)
	if err != nil {
		return nil, fmt.Errorf("decompress managedFields: %w", err)
	}
	return text, nil
}

// Size returns the approximate memory of the Managed, in bytes.
func (m *Managed) Size() int {
	return len(m.packed) + len(m.newest.Manager) + len(m.newest.Operation) + len(m.newest.Subresource) + 144
}

// compressManaged compresses managedFields. If they equal those of the previous call, it returns the same Managed.
// This is common: several writes of a manager within one second have the same time, so they change managedFields only
// once.
func (d *decoder) compressManaged(text []byte) *Managed {
	if d.managed != nil && bytes.Equal(text, d.managedText) {
		return d.managed
	}
	newest, unambiguous := fieldmanager.Newest(text)
	if newest == nil {
		return nil
	}
	d.packed = d.managers.encode(d.packed, text)
	d.managed = &Managed{newest: *newest, unambiguous: unambiguous, packed: bytes.Clone(d.packed), codec: d.managers}
	d.managedText = append(d.managedText[:0], text...)
	return d.managed
}
