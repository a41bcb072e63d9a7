package compact

import (
	"bytes"
	"hash/maphash"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

// GuestMask makes copies of the Objects of one resource, in which sensitive values are masked for guests. Only one
// goroutine at a time can use it.
type GuestMask struct {
	mask      *redact.GuestMask
	lastCodec *codec // The masking codec of the previous Object. Other Objects of the same list reuse it.
}

// NewGuestMask returns the GuestMask of a resource. group is "" for the core group.
func NewGuestMask(group, resource string) *GuestMask {
	return &GuestMask{mask: redact.NewGuestMask(group, resource)}
}

// Object returns a copy of o whose text is masked for guests each time it is read. A nil GuestMask returns o itself.
func (g *GuestMask) Object(o *Object) *Object {
	if g == nil {
		return o
	}
	if g.lastCodec == nil || g.lastCodec.unmasked != o.codec {
		g.lastCodec = &codec{mask: g.mask.Object, unmasked: o.codec}
	}
	masked := *o
	masked.codec = g.lastCodec
	return &masked
}

// After returns a copy of o with masked text. If a sensitive value differs between the versions previous and o, its
// mask contains the word "changed".
func (g *GuestMask) After(previous, o *Object) (*Object, error) {
	old, err := previous.JSON()
	if err != nil {
		return nil, err
	}
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	if text, err = g.mask.After(nil, old, text); err != nil {
		return nil, err
	}
	masked := *o
	masked.data = append(bytes.Clone(o.data[:o.verdictEnd]), text...)
	masked.codec, masked.textHash = nil, maphash.Bytes(seed, text)
	return &masked, nil
}
