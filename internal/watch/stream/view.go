package stream

import (
	"bytes"
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
)

// View is the form in which a Subscription sends objects: as rows, as JSON texts, or as changes.
type View string

// The views that a client can request.
const (
	Rows    View = "rows"    // The cells of each object. An update contains the cells that changed.
	Table   View = "table"   // Like Rows in fewer bytes: a snapshot is sent column by column, without UIDs.
	Object  View = "object"  // The JSON text of one object. An update is a patch.
	Changes View = "changes" // Every change, with its patch and its author (the field manager).
	// Windowed sorts all rows on the server, and sends only a range of them, such as the visible rows.
	Windowed View = "window"
)

// IsValid reports whether v is one of the views above.
func (v View) IsValid() bool {
	return slices.Contains([]View{Rows, Table, Object, Changes, Windowed}, v)
}

// IsPlain reports whether a message must be sent without compression: a message with events, except in the view Object.
// Many readers can get the same events at once, and compression would be repeated for each of them.
func (v View) IsPlain(message []byte) bool {
	return v != Object &&
		(bytes.HasPrefix(message, []byte(`"type":"events"`)) ||
			bytes.HasPrefix(message, []byte(`"type":"window-events"`)))
}

// hasRows reports whether clients have a list of rows, which they can verify by a digest.
func (v View) hasRows() bool { return v != Object && v != Changes }

// A view builds the messages of one client. Its methods return nil if no message can be sent now.
type view interface {
	// begin returns the first message of a snapshot. Rows that do not fit into it are stored in client.unsent.
	begin(ctx context.Context) ([]byte, error)
	// read waits for changes up to lastOffset, and returns a message with them. If Journal.Wake ends the wait, read can
	// return nil.
	read(ctx context.Context, lastOffset uint64) ([]byte, error)
	// cursorMessage returns a message without changes, which only sends the client's new cursor.
	cursorMessage() ([]byte, error)
	// digest returns a hash of the client's rows, at the position of the client or at a later journal offset.
	digest(ctx context.Context) (*shared.Digest, error)
	close()
}

func newView(c *client) view {
	row := func(encode func(*event.Change, *event.Cache, bool) ([]byte, error)) events {
		return events{c, func(change *event.Change, cache *event.Cache) ([]byte, error) {
			return encode(change, cache, !c.filter.HidesExtra)
		}}
	}
	switch c.options.View {
	case Rows:
		return &rows{row(event.Row), messages.AppendRows}
	case Table:
		return &rows{row(event.Table), messages.AppendTable}
	case Object:
		return &object{events{c, event.Object}}
	case Changes:
		return newChanges(c)
	case Windowed:
		return &window{client: c, requested: c.options.Window}
	}
	return nil
}
