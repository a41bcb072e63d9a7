package stream

import (
	"context"

	"glasshouse/internal/watch/event"
)

// View is the form in which a Subscription sends objects: as rows, as JSON texts, or as changes.
type View string

// The views that a client can request.
const (
	Rows    View = "rows"    // The cells of each object. An update contains the cells that changed.
	Table   View = "table"   // Like Rows in fewer bytes: a snapshot is sent column by column, without UIDs.
	Object  View = "object"  // The JSON text of one object. An update is a patch.
	Changes View = "changes" // Every change, with its patch and its author (the field manager).
	// Windowed sends only a range of the rows, for example the visible ones. The server sorts all rows.
	Windowed View = "window"
)

// view contains the properties of a View: how a reader encodes and sends its messages.
type view struct {
	begin func(*Reader, context.Context) ([]byte, error)
	next  func(*Reader) ([]byte, error)
	event func(*event.Change, *event.Cache) ([]byte, error)
	name  View
	// isShared means that all readers with the same filter get the same events, which are encoded once for all of them.
	isShared bool
	// everyChange means that each change is sent separately. Otherwise, the pending changes of one object are combined.
	everyChange bool
	// texts means that events contain the JSON texts of objects, or patches of them.
	texts bool
	// digests means that a digest (a hash of the rows) is sent at intervals, by which clients verify their rows.
	digests bool
}

// IsValid reports whether v is one of the views above.
func (v View) IsValid() bool { return viewOf(v).begin != nil }

func viewOf(name View) view {
	switch name {
	case Rows:
		return view{
			name: name, isShared: true, begin: (*Reader).beginRows, next: (*Reader).nextRows,
			event: event.Row, digests: true,
		}
	case Table:
		return view{
			name: name, isShared: true, begin: (*Reader).beginRows, next: (*Reader).nextTable,
			event: event.Table, digests: true,
		}
	case Object:
		return view{name: name, begin: (*Reader).beginObject, event: event.Object, texts: true}
	case Changes:
		return view{name: name, begin: (*Reader).beginChanges, event: changeEvent, everyChange: true, texts: true}
	case Windowed:
		return view{name: name, begin: (*Reader).beginWindow, digests: true}
	}
	return view{}
}
