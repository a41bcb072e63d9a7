package watch

import (
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/wire"
)

// veiled reports whether texts go to the viewer masked: what is shared never has
// the values of ConfigMaps and of containers' environments.
func (v *Viewer) veiled() bool { return v.Scope != nil }

// scope is what is watched for the viewer of a resource. Cells of others' kinds may
// show anything: for those whom something is shared with these are watched once more,
// and what is masked for them is so before it is kept. No row, order or search can
// tell what never came in.
func (a *Access) scope(r *Resource, fields string) wire.Scope {
	return wire.Scope{Resource: r.gvr(), Fields: fields, Shared: a.viewer.veiled() && !wire.BuiltIn(r.Group)}
}

// seenText is the text of an object of a resource as the viewer may see it.
func (a *Access) seenText(r *Resource, text []byte, err error) ([]byte, error) {
	a.Grow(max(0, int64(len(text))-LargestText))
	if err != nil || !a.viewer.veiled() {
		return text, err
	}
	return redact.NewVeil(r.Group, r.Resource).Object(nil, text)
}

// veil is the resource's for the viewer; nil where texts are seen as they are.
func (a *Access) veil(r *Resource) *wire.Veil {
	if !a.viewer.veiled() {
		return nil
	}
	return wire.NewVeil(r.Group, r.Resource)
}

// seen is an object as the reader may be told its text.
func (s *reading) seen(o *wire.Object) *wire.Object {
	if s.veil == nil || o == nil {
		return o
	}
	return s.veil.Object(o)
}

// seenChange is a change as the reader may be told its texts. All to whom it is
// told so share one, while it is recent.
//
// What it leads from is masked as in a snapshot, also where the change before had
// told the reader that a value changed. So patches fit what the reader holds, which
// has the same members and elements; but no patch takes that mark away: it stays until
// the text is told anew. To do better, what each reader was told last would have to be
// kept.
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
	seen := &change{Offset: c.Offset, Time: c.Time, Key: c.Key, Op: c.Op, Memo: memo{managed: c.Memo.managed, sight: c.Memo.sight}}
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

// heldBy is about how many bytes a change as it is seen holds, texts that are masked
// anew among them.
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
