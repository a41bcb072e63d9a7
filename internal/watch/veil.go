package watch

import (
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/wire"
)

// veiled reports whether the guest mask applies to the viewer. A link never shares the values of ConfigMaps, or of the
// environment variables of containers.
func (v *Viewer) veiled() bool { return v.Scope != nil }

// scope returns the scope (what an informer watches) from which the viewer reads the resource. Cells of resources that
// are not part of Kubernetes (custom resources, aggregated APIs) may show any value. So guests have a separate informer
// for these, which masks values before it caches them. Then no row, sort order or search can reveal a masked value.
func (a *Access) scope(r *Resource, fields string) wire.Scope {
	return wire.Scope{Resource: r.gvr(), Fields: fields, Shared: a.viewer.veiled() && !wire.BuiltIn(r.Group)}
}

// seenText masks the text of an object as the viewer requires. It passes on err.
func (a *Access) seenText(r *Resource, text []byte, err error) ([]byte, error) {
	a.Grow(max(0, int64(len(text))-LargestText))
	if err != nil || !a.viewer.veiled() {
		return text, err
	}
	return redact.NewVeil(r.Group, r.Resource).Object(nil, text)
}

// veil returns the guest mask for the resource, or nil if the viewer is not a guest.
func (a *Access) veil(r *Resource) *wire.Veil {
	if !a.viewer.veiled() {
		return nil
	}
	return wire.NewVeil(r.Group, r.Resource)
}

// seen returns an object, masked if the reader is a guest.
func (s *reading) seen(o *wire.Object) *wire.Object {
	if s.veil == nil || o == nil {
		return o
	}
	return s.veil.Object(o)
}

// seenChange returns a change, masked if the reader is a guest. All guests share one masked copy while the change is
// recent.
//
// The old object is masked as in a snapshot, even if the previous change marked one of its values as changed. A patch
// still applies to the guest's copy, which has the same members and elements. But no patch removes the mark: it stays
// until the complete text is sent again. Removing it would require a copy of what each reader received last.
func (s *reading) seenChange(c *change) (*change, error) {
	if s.veil == nil || !s.view.texts {
		return c, nil
	}
	seen, made, err := c.Memo.seen.get(func() (*change, error) { return s.newSeenChange(c) })
	if made {
		s.recent.hold(seen, heldBy(seen))
	}
	return seen, err
}

func (s *reading) newSeenChange(c *change) (*change, error) {
	seen := &change{
		Offset: c.Offset, Time: c.Time, Key: c.Key, Op: c.Op, Memo: memo{managed: c.Memo.managed, sight: c.Memo.sight},
	}
	if c.Op != journal.Add {
		seen.Old = s.veil.Object(c.Old)
	}
	var err error
	switch c.Op {
	case journal.Add:
		seen.New = s.veil.Object(c.New)
	case journal.Update:
		seen.New, err = s.veil.After(c.Old, c.New)
	case journal.Delete:
	}
	return seen, err
}

// heldBy estimates the memory of a masked change in bytes, including the masked texts.
func heldBy(seen *change) (bytes int) {
	for _, o := range []*wire.Object{seen.Old, seen.New} {
		if o != nil {
			bytes += o.Size()
		}
	}
	if seen.Memo.managed != nil {
		bytes += seen.Memo.managed.Size()
	}
	return bytes
}
