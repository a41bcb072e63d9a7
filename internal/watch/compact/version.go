package compact

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
)

// Version is an Object from a watch event, and its managedFields, which show who made the change.
type Version struct {
	*Object

	Managed *Managed // The managedFields; nil if there are none or they cannot be read.
}

// DeepCopyObject returns the Version itself, because a Version is immutable.
func (v *Version) DeepCopyObject() runtime.Object { return v }

// Managed contains compressed managedFields. They are not a part of the Object, because they are large and needed only
// for recent changes.
type Managed struct {
	newest      fieldmanager.Author
	unambiguous bool
	packed      []byte
	codec       *codec
}

// Newest returns the newest entry of the managedFields. If several entries have the newest time, unambiguous is false.
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
