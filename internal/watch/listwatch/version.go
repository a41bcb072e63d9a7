package listwatch

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"glasshouse/internal/watch/fieldmanager"
)

// Version is an Object from a watch event, with its managedFields. Objects of a list are not Versions, because the
// authors of their changes are not recorded.
type Version struct {
	*Object

	Managed *Managed // The managedFields; nil if there are none, or if they cannot be read.
}

// DeepCopyObject returns the Version itself, which is immutable.
func (v *Version) DeepCopyObject() runtime.Object { return v }

// Managed contains an object's managedFields, which name the authors of changes. They are as large as the rest of the
// object, and are needed only while the author of the change may be requested. Therefore the Object does not contain
// them.
type Managed struct {
	newest      fieldmanager.Author
	unambiguous bool
	packed      []byte
	codec       *codec
}

// Newest returns the entry with the newest time, and unambiguous is true. If several entries have this time, it returns
// the last of them, and unambiguous is false.
func (m *Managed) Newest() (newest fieldmanager.Author, unambiguous bool) {
	return m.newest, m.unambiguous
}

// JSON returns the text of the managedFields. Each call decompresses it again.
func (m *Managed) JSON() ([]byte, error) {
	text, err := m.codec.decode(nil, m.packed)
	if err != nil {
		return nil, fmt.Errorf("decompress managedFields: %w", err)
	}
	return text, nil
}

// Size returns the approximate memory that the Managed uses, in bytes.
func (m *Managed) Size() int {
	return len(m.packed) + len(m.newest.Manager) + len(m.newest.Operation) + len(m.newest.Subresource) + 144
}

// compressManaged compresses managedFields. If they equal those of the previous event, it returns the same Managed: a
// manager that writes many times within a second changes the managedFields only with its first write.
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
