package wire

import (
	"bytes"
	"hash/maphash"

	"glasshouse/internal/watch/redact"
)

// A Veil gives Objects as they may be seen by those whom something is shared
// with. It is for one goroutine.
type Veil struct {
	veil *redact.Veil
	last *codec // Of the Object before: those of one list have the same.
}

// NewVeil returns the Veil of a resource; group is "" for the core group.
func NewVeil(group, resource string) *Veil {
	return &Veil{veil: redact.NewVeil(group, resource)}
}

// Object returns an Object whose text is masked each time that it is read.
func (v *Veil) Object(o *Object) *Object {
	if v.last == nil || v.last.behind != o.codec {
		v.last = &codec{veil: v.veil.Object, behind: o.codec}
	}
	seen := *o
	seen.codec = v.last
	return &seen
}

// After returns an Object whose text is masked, in which values that are other
// than those before show as changed.
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
