package stream

import (
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
)

// maskObject returns o, with sensitive values masked if the reader is a guest (a viewer of a share link).
func (s *Reader) maskObject(o *listwatch.Object) *listwatch.Object {
	if s.options.GuestMask == nil || o == nil {
		return o
	}
	return s.options.GuestMask.Object(o)
}

// maskChange returns a change, with sensitive values masked if the reader is a guest (a viewer of a share link). All
// guests share one masked copy while it is in the cache.
//
// If a masked value changes, the new object contains "(masked, changed)" instead. The old object never contains this
// mark, although an earlier change can have set it in the guest's copy. Patches still apply, because the guest's copy
// has the same members and elements. But no patch removes the mark, because this would need a copy of what each guest
// received last. The mark stays until the complete text is sent again.
func (s *Reader) maskChange(c *event.Change) (*event.Change, error) {
	if s.options.GuestMask == nil || !s.view.texts {
		return c, nil
	}
	masked, computed, err := c.Memo.Masked.Get(func() (*event.Change, error) { return s.newMaskedChange(c) })
	if computed {
		s.options.Cache.Add(masked, maskedChangeSize(masked))
	}
	return masked, err
}

func (s *Reader) newMaskedChange(c *event.Change) (*event.Change, error) {
	masked := &event.Change{
		Offset: c.Offset, Time: c.Time, Key: c.Key, Op: c.Op,
		Memo: event.Memo{Managed: c.Memo.Managed, CoverageOnly: c.Memo.CoverageOnly},
	}
	if c.Op != journal.Add {
		masked.Old = s.options.GuestMask.Object(c.Old)
	}
	var err error
	switch c.Op {
	case journal.Add:
		masked.New = s.options.GuestMask.Object(c.New)
	case journal.Update:
		masked.New, err = s.options.GuestMask.After(c.Old, c.New)
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
