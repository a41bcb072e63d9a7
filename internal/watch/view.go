package watch

import (
	"cmp"
	"context"
	"slices"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/journal"
)

// View is the form in which a Subscription sends objects: as rows, as JSON texts, or as changes.
type View string

// The views that a client can request.
const (
	Rows    View = "rows"    // The cells of each object. An update contains the cells that changed.
	Table   View = "table"   // Like Rows in fewer bytes: a snapshot is sent column by column, without UIDs.
	Object  View = "object"  // The JSON text of one object. An update is a patch.
	Changes View = "changes" // Every change, with its patch and its author (the field manager).
	// Windowed sends a range of the rows in a sort order, which the server maintains.
	Windowed View = "window"
)

// view defines how a reader sends the messages of a View.
type view struct {
	// begin returns the first message of a snapshot, or nil if the data is not available yet.
	begin func(*reader, context.Context) ([]byte, error)
	// next returns the message with the next part of a snapshot of rows.
	next func(*reader) ([]byte, error)
	// event encodes a change as an event of this view. It returns nil if the view does not show the change.
	event func(*event.Change, *event.Cache) ([]byte, error)
	name  View
	// isShared means that all readers with the same filter get the same events, which are encoded once for all of them.
	isShared bool
	// everyChange means that each change is sent separately. Otherwise, the pending changes of one object are combined.
	everyChange bool
	// texts means that events contain the JSON texts of objects, or patches of them.
	texts bool
	// digests means that a digest (a hash over the rows) is sent at intervals. Clients verify their rows with it.
	digests bool
}

func viewOf(name View) (v view, ok bool) {
	switch name {
	case Rows:
		return view{
			name: name, isShared: true, begin: (*reader).beginRows, next: (*reader).nextRows,
			event: event.Row, digests: true,
		}, true
	case Table:
		return view{
			name: name, isShared: true, begin: (*reader).beginRows, next: (*reader).nextTable,
			event: event.Table, digests: true,
		}, true
	case Object:
		return view{name: name, begin: (*reader).beginObject, event: event.Object, texts: true}, true
	case Changes:
		return view{name: name, begin: (*reader).beginChanges, event: changeEvent, everyChange: true, texts: true}, true
	case Windowed:
		return view{name: name, begin: (*reader).beginWindow, digests: true}, true
	}
	return view{}, false
}

// fold combines the changes of each object into one. The offsets in changes need not be consecutive. A combined
// change has the managedFields of its newest part. A combined update also has the list of its parts.
func fold(changes []*event.Change) []*event.Change {
	folded := journal.Fold(changes, informer.SameUID)
	var merged map[string]*event.Folding
	for _, c := range folded {
		at, _ := slices.BinarySearchFunc(changes, c.Offset, func(c *event.Change, offset uint64) int {
			return cmp.Compare(c.Offset, offset)
		})
		newest := changes[at]
		if c == newest {
			continue
		}
		c.Memo.Managed = newest.Memo.Managed
		if c.Op == journal.Update {
			if merged == nil {
				merged = make(map[string]*event.Folding)
			}
			c.Memo.Folded = new(event.Folding)
			merged[c.Key] = c.Memo.Folded
		}
	}
	if merged == nil {
		return folded
	}
	for _, c := range changes {
		if list := merged[c.Key]; list != nil && len(*list) <= event.MaxFolded {
			*list = append(*list, c)
		}
	}
	return folded
}
