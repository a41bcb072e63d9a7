package watch

import (
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/resource"
)

// isMasked reports whether values are masked for the viewer, because the viewer is a guest: a viewer of a share link.
// A link never shares the values of ConfigMaps, or of the environment variables of containers.
func (v *Viewer) isMasked() bool { return v.Scope != nil }

// scope returns what the informer watches from which the viewer reads the resource. Cells of resources that are not
// part of Kubernetes (custom resources, aggregated APIs) can show any value. Therefore guests (viewers of share
// links) read these from a separate informer, which masks values before it caches them. Then no row, sort order or
// search can reveal a masked value.
func (a *Access) scope(r *resource.Resource, fields string) listwatch.Scope {
	return listwatch.Scope{
		Resource:    r.GVR(),
		Fields:      fields,
		GuestMasked: a.viewer.isMasked() && !listwatch.IsBuiltIn(r.Group),
	}
}

// maskText masks sensitive values in the text of an object if the viewer is a guest. If err is not nil, it returns
// text and err unchanged.
func (a *Access) maskText(r *resource.Resource, text []byte, err error) ([]byte, error) {
	a.Grow(max(0, int64(len(text))-LargestText))
	if err != nil || !a.viewer.isMasked() {
		return text, err
	}
	return redact.NewGuestMask(r.Group, r.Resource).Object(nil, text)
}

// guestMask returns the mask that hides sensitive values of the resource from guests (viewers of share links). It
// returns nil if the viewer is not a guest.
func (a *Access) guestMask(r *resource.Resource) *listwatch.GuestMask {
	if !a.viewer.isMasked() {
		return nil
	}
	return listwatch.NewGuestMask(r.Group, r.Resource)
}

// maskObject returns o, with sensitive values masked if the reader is a guest (a viewer of a share link).
func (s *reader) maskObject(o *listwatch.Object) *listwatch.Object {
	if s.guestMask == nil || o == nil {
		return o
	}
	return s.guestMask.Object(o)
}

// maskChange returns a change, with sensitive values masked if the reader is a guest (a viewer of a share link). All
// guests share one masked copy while it is in the cache.
//
// If a masked value changes, the new object has the mark "(masked, changed)" for it. The old object never has this
// mark, even if the previous change set it. Patches still apply to the guest's copy, which has the same members and
// elements. But no patch removes the mark: it stays until the complete text is sent again. To remove it, the program
// would need a copy of what each reader received last.
func (s *reader) maskChange(c *event.Change) (*event.Change, error) {
	if s.guestMask == nil || !s.view.texts {
		return c, nil
	}
	masked, computed, err := c.Memo.Masked.Get(func() (*event.Change, error) { return s.newMaskedChange(c) })
	if computed {
		s.cache.Add(masked, maskedChangeSize(masked))
	}
	return masked, err
}

func (s *reader) newMaskedChange(c *event.Change) (*event.Change, error) {
	masked := &event.Change{
		Offset: c.Offset, Time: c.Time, Key: c.Key, Op: c.Op,
		Memo: event.Memo{Managed: c.Memo.Managed, CoverageOnly: c.Memo.CoverageOnly},
	}
	if c.Op != journal.Add {
		masked.Old = s.guestMask.Object(c.Old)
	}
	var err error
	switch c.Op {
	case journal.Add:
		masked.New = s.guestMask.Object(c.New)
	case journal.Update:
		masked.New, err = s.guestMask.After(c.Old, c.New)
	case journal.Delete:
	}
	return masked, err
}

func maskedChangeSize(masked *event.Change) (bytes int) {
	for _, o := range []*listwatch.Object{masked.Old, masked.New} {
		if o != nil {
			bytes += o.Size()
		}
	}
	if masked.Memo.Managed != nil {
		bytes += masked.Memo.Managed.Size()
	}
	return bytes
}
