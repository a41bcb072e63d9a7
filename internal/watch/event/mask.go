package event

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// Masked returns a change with sensitive values masked for viewers of a share link.
//
// If a masked value has changed, its new mask is "(masked, changed)". The client shows this mask until it gets the
// complete object again. Until then, the patches of later changes still apply to the object that the client has.
func Masked(c *Change, mask *compact.GuestMask, cache *Cache) (*Change, error) {
	masked, computed, err := c.Memo.masked.Get(func() (*Change, error) { return newMasked(c, mask) })
	if computed {
		cache.Add(masked, maskedSize(masked))
	}
	return masked, err
}

func newMasked(c *Change, mask *compact.GuestMask) (*Change, error) {
	masked := &Change{
		Offset: c.Offset, Time: c.Time, Key: c.Key, Op: c.Op,
		Memo: Memo{Managed: c.Memo.Managed, CoverageOnly: c.Memo.CoverageOnly},
	}
	if c.Op != journal.Add {
		masked.Old = mask.Object(c.Old)
	}
	var err error
	switch c.Op {
	case journal.Add:
		masked.New = mask.Object(c.New)
	case journal.Update:
		masked.New, err = mask.After(c.Old, c.New)
	case journal.Delete:
	}
	return masked, err
}

func maskedSize(masked *Change) (bytes int) {
	for _, o := range []*compact.Object{masked.Old, masked.New} {
		if o != nil {
			bytes += o.Size()
		}
	}
	if masked.Memo.Managed != nil {
		bytes += masked.Memo.Managed.Size()
	}
	return bytes
}
