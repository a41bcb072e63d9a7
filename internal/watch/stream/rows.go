package stream

import (
	"context"
	"fmt"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
)

// rows is the view Rows or Table. These two views differ only in how they encode rows.
type rows struct {
	events

	appendPart messages.AppendPart
}

// begin starts a snapshot of rows and returns the message with its first part.
func (r *rows) begin(ctx context.Context) ([]byte, error) {
	c := r.client
	var memory int64
	if !c.filter.MatchesAll() {
		memory = shared.ListedMemory * int64(c.informer.Len()) // This reader needs a filtered list of its own.
	}
	if !c.buffer.Acquire(messages.PartMemory + memory) {
		return nil, nil
	}
	c.buffer.KeepList(memory)
	listing, now, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	c.position.cursor = listing.Cursor
	if !now.Status.Same(c.sentStatus) || !now.Synced && !now.HasNoRows {
		// Send no rows yet. A changed status is sent before the rows. Rows that are not synced are not sent at all,
		// because a list with new columns soon arrives.
		return nil, nil
	}
	if len(listing.Objects) == 0 {
		if err := c.options.Check(ctx); err != nil {
			return nil, err
		}
	}
	c.position.version = now.Version
	c.unsent = &rowList{c, listing, listing.Objects, c.filter.ShownColumns(now.Columns), true, r.appendPart}
	return c.unsent.next()
}

// list returns all objects that the filter matches. If these are all objects of the resource, readers share one list.
func (r *rows) list(ctx context.Context) (listing *shared.Listing, now informer.State, err error) {
	read := func() error {
		// The list can lack the newest changes (at most 1000, the value of batch). They follow as events.
		listing, now = r.client.informer.Objects(r.client.filter, batch)
		return nil
	}
	if r.client.filter.MatchesAll() {
		err = read()
	} else {
		err = r.client.scan(ctx, read)
	}
	return listing, now, err
}

// rowList contains the rows of a snapshot that are not sent yet.
type rowList struct {
	client     *client
	listing    *shared.Listing // Keeps the listing in memory, because other readers have only a weak pointer to it.
	rows       []*compact.Object
	columns    []printer.Column
	isFirst    bool // The next part is the first one, which also contains the columns.
	appendPart messages.AppendPart
}

// next returns the message with the next part of the snapshot.
func (l *rowList) next() (message []byte, err error) {
	message = l.client.message("snapshot")
	if l.isFirst {
		if message, err = messages.AppendColumns(message, l.columns); err != nil {
			return nil, err
		}
	}
	message, n, err := l.appendPart(message, l.rows, l.columns)
	if err != nil {
		return nil, err
	}
	l.rows, l.isFirst = l.rows[n:], false
	if len(l.rows) == 0 {
		l.client.unsent = nil
	}
	return fmt.Appendf(message, `,"last":%t`, len(l.rows) == 0), nil
}
