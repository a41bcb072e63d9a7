package wire

import (
	"bytes"
	"hash/maphash"

	"glasshouse/internal/watch/redact"
)

// Veil is the guest mask of a resource: it returns Objects as guests of a share link may see them. Only one goroutine
// may use it.
type Veil struct {
	veil *redact.Veil
	last *codec // The masking codec for the previous Object. Objects of one list share a codec.
}

// NewVeil returns the guest mask of a resource. group is "" for the core group.
func NewVeil(group, resource string) *Veil {
	return &Veil{veil: redact.NewVeil(group, resource)}
}

// Object returns a masked Object. Its text is masked each time it is read.
func (v *Veil) Object(o *Object) *Object {
	if v.last == nil || v.last.behind != o.codec {
		v.last = &codec{veil: v.veil.Object, behind: o.codec}
	}
	seen := *o
	seen.codec = v.last
	return &seen
}

// After returns o with a masked text. Masked values that differ from those in before are marked as changed.
func (v *Veil) After(before, o *Object) (*Object, error) {
	old, err := before.JSON()
	if err != nil {
		return nil, err
	}
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	if text, err = v.veil.After(nil, old, text); err != nil {
		return nil, err
	}
	seen := *o
	seen.data = append(bytes.Clone(o.data[:o.ends[4]]), text...)
	seen.codec, seen.print = nil, maphash.Bytes(seed, text)
	return &seen, nil
}
